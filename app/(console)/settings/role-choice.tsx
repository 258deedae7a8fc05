import { NativeSelect, Text } from '@mantine/core'
import { useTranslations } from 'next-intl'

export const ROLES = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** What somebody, or a program, may do, with what that means. */
export function RoleChoice({
  label,
  role,
  choose,
}: {
  label: string
  role: Role
  choose: (role: Role) => void
}) {
  const t = useTranslations('people')
  const roles = useTranslations('person.role')
  return (
    <>
      <NativeSelect
        label={label}
        data={ROLES.map((value) => ({ value, label: roles(value) }))}
        value={role}
        onChange={(event) => choose(event.currentTarget.value as Role)}
      />
      <Text size="xs" c="dimmed">
        {t(`roleText.${role}`)}
      </Text>
    </>
  )
}

import { Anchor, Text } from '@mantine/core'

/** A crawled address: a link that tells the site nothing of the console. Whatever is no web address stays text. */
export function WebAddress({
  url,
  size = 'sm',
  dimmed = false,
}: {
  url: string
  size?: 'xs' | 'sm'
  dimmed?: boolean
}) {
  if (!/^https?:\/\//i.test(url))
    return (
      <Text size={size} className="address">
        {url}
      </Text>
    )
  return (
    <Anchor
      href={url}
      size={size}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="address"
      lineClamp={2}
      {...(dimmed && { c: 'dimmed' })}
    >
      {url}
    </Anchor>
  )
}

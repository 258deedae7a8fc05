import type { SVGProps } from 'react'

/** The few drawings the console needs. They say nothing by themselves: each stands beside words or in a labelled button. */
function Icon({ children, size = 18, ...rest }: SVGProps<SVGSVGElement> & { size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
      {...rest}
    >
      {children}
    </svg>
  )
}

export function LogoIcon({ size = 26 }: { size?: number }) {
  return (
    <Icon size={size} strokeWidth={1.4} style={{ color: 'var(--mantine-primary-color-filled)' }}>
      <path d="M12 1.5v21M1.5 12h21M4.6 4.6l14.8 14.8M19.4 4.6 4.6 19.4" />
      <path d="M12 4.8l5.1 2.1 2.1 5.1-2.1 5.1-5.1 2.1-5.1-2.1L4.8 12l2.1-5.1z" />
      <circle cx="12" cy="12" r="2.6" fill="currentColor" />
    </Icon>
  )
}

export const OverviewIcon = () => (
  <Icon>
    <rect x="3.5" y="3.5" width="7" height="9" rx="1.5" />
    <rect x="13.5" y="3.5" width="7" height="5" rx="1.5" />
    <rect x="3.5" y="15.5" width="7" height="5" rx="1.5" />
    <rect x="13.5" y="11.5" width="7" height="9" rx="1.5" />
  </Icon>
)

export const RunsIcon = () => (
  <Icon>
    <path d="M4 18l5-6 4 3 7-9" />
    <path d="M15 6h5v5" />
  </Icon>
)

export const QueuesIcon = () => (
  <Icon>
    <path d="M4 6h16M4 12h16M4 18h10" />
    <path d="M18 16v4M16 18h4" />
  </Icon>
)

export const SchedulesIcon = () => (
  <Icon>
    <rect x="3.5" y="5" width="17" height="15.5" rx="2" />
    <path d="M3.5 10h17M8 2.5v4M16 2.5v4M12 13v3.5l2.5 1" />
  </Icon>
)

export const WorkersIcon = () => (
  <Icon>
    <rect x="4" y="4" width="16" height="6.5" rx="1.5" />
    <rect x="4" y="13.5" width="16" height="6.5" rx="1.5" />
    <path d="M8 7.25h.01M8 16.75h.01M12 7.25h4M12 16.75h4" />
  </Icon>
)

export const AlertsIcon = () => (
  <Icon>
    <path d="M6 16V11a6 6 0 0 1 12 0v5l2 2.5H4z" />
    <path d="M10 21h4" />
  </Icon>
)

export const PlusIcon = () => (
  <Icon size={16}>
    <path d="M12 5v14M5 12h14" />
  </Icon>
)

export const PauseIcon = () => (
  <Icon size={16}>
    <path d="M8 5v14M16 5v14" strokeWidth={3} />
  </Icon>
)

export const DotsIcon = () => (
  <Icon size={16}>
    <path d="M5 12h.01M12 12h.01M19 12h.01" strokeWidth={3} />
  </Icon>
)

export const SpidersIcon = () => (
  <Icon>
    <circle cx="12" cy="8" r="2.5" />
    <ellipse cx="12" cy="15" rx="4" ry="4.5" />
    <path d="M8.5 13L4 10V6M15.5 13l4.5-3V6M8.5 16L4 18v3M15.5 16l4.5 2v3" />
  </Icon>
)

export const SeedsIcon = () => (
  <Icon>
    <path d="M12 21v-9" />
    <path d="M12 14c0-5-3-8-8-8 0 5 3 8 8 8zM12 11c0-4 3-7 8-7 0 5-3 8-8 8" />
  </Icon>
)

export const SearchIcon = () => (
  <Icon size={16}>
    <circle cx="11" cy="11" r="7" />
    <path d="M16 16l5 5" />
  </Icon>
)

export const UploadIcon = () => (
  <Icon size={28}>
    <path d="M12 16V4M7 9l5-5 5 5M4 16v4h16v-4" />
  </Icon>
)

export const SunIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="4" />
    <path d="M12 2v2M12 20v2M2 12h2M20 12h2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4" />
  </Icon>
)

export const MoonIcon = () => (
  <Icon>
    <path d="M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z" />
  </Icon>
)

export const AutoIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="9" />
    <path d="M12 3v18a9 9 0 0 0 0-18z" fill="currentColor" />
  </Icon>
)

export const LanguageIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="9" />
    <path d="M3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18" />
  </Icon>
)

export const PersonIcon = () => (
  <Icon>
    <circle cx="12" cy="8" r="4" />
    <path d="M4 21c1-4 4-6 8-6s7 2 8 6" />
  </Icon>
)

export const PlayIcon = () => (
  <Icon size={16}>
    <path d="M7 4l13 8-13 8z" fill="currentColor" />
  </Icon>
)

export const WarningIcon = () => (
  <Icon>
    <path d="M12 3l10 18H2z" />
    <path d="M12 10v5M12 18v.5" />
  </Icon>
)

export const SettingsIcon = () => (
  <Icon>
    <path d="M4 7h9M17 7h3M4 17h3M11 17h9" />
    <circle cx="15" cy="7" r="2" />
    <circle cx="9" cy="17" r="2" />
  </Icon>
)

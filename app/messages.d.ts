import type messages from '../messages/en.json'
import type { Locale } from './locales'

// Makes the compiler refuse a message that does not exist.
declare module 'next-intl' {
  interface AppConfig {
    Messages: typeof messages
    Locale: Locale
  }
}

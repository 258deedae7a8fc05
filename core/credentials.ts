/** `basic`: user and password; `bearer`: a token; `headers`: any, such as `X-Api-Key`. */
export const CREDENTIAL_KINDS = ['basic', 'bearer', 'headers'] as const

export type Credentials =
  | { kind: 'basic'; user: string; password: string }
  | { kind: 'bearer'; token: string }
  | { kind: 'headers'; headers: Record<string, string> }

/** The headers by which a request signs in. */
export function signInHeaders(credentials: Credentials): Record<string, string> {
  switch (credentials.kind) {
    case 'basic': {
      // RFC 7617 §2.1: UTF-8 is what servers expect where they say anything.
      const pair = Buffer.from(`${credentials.user}:${credentials.password}`, 'utf8')
      return { authorization: `Basic ${pair.toString('base64')}` }
    }
    case 'bearer':
      return { authorization: `Bearer ${credentials.token}` }
    case 'headers':
      return credentials.headers
  }
}

/** To what the secrets of a spider at an origin are bound when they are sealed. */
export const credentialsPlace = (spider: number, origin: string) => `${spider} ${origin}`

/** Not a URL that can be crawled. The message names the URL and the reason. */
export class InvalidUrl extends Error {
  override name = 'InvalidUrl'
}

/**
 * The canonical form of a URL (WHATWG URL Standard), which is its identity for dedupe and what is fetched.
 * @throws InvalidUrl for anything but http and https, for credentials in the URL, and for over 8,192 bytes.
 */
export function canonicalise(_input: string, _base?: string): string {
  throw new Error('not built')
}

/** 32 bytes: SHA-256 of the canonical URL's UTF-8 bytes. */
export function urlHash(_canonical: string): Buffer {
  throw new Error('not built')
}

/** 22 characters: the first 16 bytes of `urlHash` in base64url. */
export function urlId(_canonical: string): string {
  throw new Error('not built')
}

/** Politeness key of a canonical URL: host name, and the port where it is not the scheme's default. */
export function hostKey(_canonical: string): string {
  throw new Error('not built')
}

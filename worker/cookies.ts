import { CookieJar } from 'tough-cookie'
import { site } from '../core/url'
import type { RequestCookies } from './fetch/fetcher'

/** Jars that this worker keeps at a time; the ones used longest ago go first. */
const JARS_KEPT = 5_000

/**
 * Cookies by run and site (RFC 6265bis); what is malformed, or meant for another site, is passed over. They live in the worker that got them: a session that another worker began is begun anew, which
 * sites cannot tell from a second visitor.
 */
export class Cookies {
  #jars = new Map<string, CookieJar>()

  of(run: number): RequestCookies {
    return {
      header: (url) => this.#jar(run, url).getCookieStringSync(url),
      take: (url, lines) => {
        const jar = this.#jar(run, url)
        for (const line of lines) jar.setCookieSync(line, url, { ignoreError: true })
      },
    }
  }

  #jar(run: number, url: string): CookieJar {
    const key = `${run} ${site(new URL(url).host)}`
    const known = this.#jars.get(key)
    const jar = known ?? new CookieJar(undefined, { looseMode: true, prefixSecurity: 'silent' })
    // Set anew, it is the one used last.
    this.#jars.delete(key)
    this.#jars.set(key, jar)
    if (this.#jars.size > JARS_KEPT) this.#jars.delete(this.#jars.keys().next().value!)
    return jar
  }
}

import { type Credentials, credentialsPlace, signInHeaders } from '../core/credentials'
import { unseal } from '../core/seal'

/** After so long, changed credentials are in force. */
const KEEP_MS = 30_000
const SPIDERS_KEPT = 200

type SealedCredentials = { origin: string; sealed: string }[]

/** What spiders sign in with at sites. */
export class SignIn {
  #known = new Map<number, { until: number; sealed: Promise<SealedCredentials> }>()

  constructor(private readonly read: (spider: number) => Promise<SealedCredentials>) {}

  /**
   * The headers that sign a request of the spider in; none where it has no credentials for the URL's origin.
   * @throws UserError when they cannot be opened here.
   */
  async headers(spider: number, url: string): Promise<Record<string, string>> {
    const found = await this.#of(spider)
    if (found.length === 0) return {}
    const { origin } = new URL(url)
    const own = found.find((one) => one.origin === origin)
    if (!own) return {}
    return signInHeaders(
      unseal('spider credentials', own.sealed, credentialsPlace(spider, origin)) as Credentials,
    )
  }

  #of(spider: number): Promise<SealedCredentials> {
    const known = this.#known.get(spider)
    if (known && known.until > performance.now()) return known.sealed
    const sealed = this.read(spider)
    this.#known.delete(spider)
    if (this.#known.size >= SPIDERS_KEPT) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(spider, { until: performance.now() + KEEP_MS, sealed })
    sealed.catch(() => this.#known.delete(spider))
    return sealed
  }
}

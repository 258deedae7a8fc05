/** Links remembered per run before the memory starts anew; forgetting costs a repeated offer, never a page. */
const REMEMBERED = 200_000

/**
 * Links that this worker knows to be admitted, so that a menu that stands on every page is offered once and not a thousand
 * times. A link counts as known only when the acknowledgement that offered it was answered OK in the current epoch: from then
 * on the row of that page, which nobody can overwrite any more, holds it for good. So the links stored with the pages of a
 * run, taken together, are all the links of the run (invariant I7), although most rows store few.
 */
export class KnownLinks {
  #runs = new Map<number, Set<string>>()
  #epoch = 0

  has(run: number, url: string): boolean {
    return this.#runs.get(run)?.has(url) ?? false
  }

  /** Remembers links that an acknowledgement of `epoch` has admitted. */
  add(run: number, urls: string[], epoch: number): void {
    if (epoch !== this.#epoch) this.enter(epoch)
    let known = this.#runs.get(run)
    if (!known || known.size + urls.length > REMEMBERED) {
      // One run at a time is usual; a handful keeps memory bounded when there are many.
      if (this.#runs.size >= 8) this.#runs.clear()
      known = new Set()
      this.#runs.set(run, known)
    }
    for (const url of urls) known.add(url)
  }

  /** A new epoch: Redis may have forgotten what it had confirmed. */
  enter(epoch: number): void {
    if (epoch === this.#epoch) return
    this.#epoch = epoch
    this.#runs.clear()
  }
}

/** Epoch of a fencing token. */
export const tokenEpoch = (token: string): number => Number(token.slice(0, token.indexOf('.')))

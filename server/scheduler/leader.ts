import type { Pool } from 'mysql2/promise'
import { change, select } from '../db'

/**
 * Which scheduler leads: a row in the database with a holder, an end and a fencing number that rises with each new holder.
 *
 * It stands in the database and not in Redis because every decision it protects is written there: the clock is the same, it
 * survives whatever happens to Redis, and losing the database stops the decisions anyway. It only keeps schedulers from doing
 * the same work at once. That nothing is done *twice* is never left to it: a leader that was paused beyond its lease goes on for
 * a moment without knowing, so each decision is also guarded where it is written (unique keys, conditional updates).
 */
export class Leader {
  #fence: number | null = null

  constructor(
    private readonly pool: Pool,
    private readonly name: string,
    readonly holder: string,
    private readonly ttlMs: number,
  ) {}

  /** Takes or renews the lease. @returns the fencing number while this process leads, null while another does. */
  async hold(): Promise<number | null> {
    const { pool, name, holder, ttlMs } = this
    const until = 'UTC_TIMESTAMP(3) + INTERVAL ? * 1000 MICROSECOND'
    if (this.#fence !== null) {
      const renewed = await change(
        pool,
        `UPDATE leases SET expires_at = ${until} WHERE name = ? AND holder = ? AND fence = ? AND expires_at > UTC_TIMESTAMP(3)`,
        [ttlMs, name, holder, this.#fence],
      )
      if (renewed.affectedRows === 1) return this.#fence
      this.#fence = null
    }
    await change(
      pool,
      "INSERT IGNORE INTO leases (name, holder, fence, expires_at) VALUES (?, '', 0, UTC_TIMESTAMP(3))",
      [name],
    )
    const taken = await change(
      pool,
      `UPDATE leases SET holder = ?, fence = fence + 1, expires_at = ${until} WHERE name = ? AND expires_at <= UTC_TIMESTAMP(3)`,
      [holder, ttlMs, name],
    )
    if (taken.affectedRows !== 1) return null
    const [row] = await select<{ fence: number }>(
      pool,
      'SELECT fence FROM leases WHERE name = ? AND holder = ?',
      [name, holder],
    )
    this.#fence = row?.fence ?? null
    return this.#fence
  }

  /** Gives the lease up, so that another scheduler need not wait for its end. */
  async resign(): Promise<void> {
    if (this.#fence === null) return
    const fence = this.#fence
    this.#fence = null
    await change(
      this.pool,
      'UPDATE leases SET expires_at = UTC_TIMESTAMP(3) WHERE name = ? AND holder = ? AND fence = ?',
      [this.name, this.holder, fence],
    )
  }
}

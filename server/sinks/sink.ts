/** An item on its way to a sink. */
export interface SinkRecord {
  /** The same each time that this item of this page is given, so that a sink can tell a repetition. */
  id: string
  spider: string
  run: number
  url: string
  /** ISO 8601 in UTC. */
  fetchedAt: string
  /** Kind of item. */
  name: string
  data: Record<string, unknown>
}

/** What a sink will not take for what it is; trying again would not help. */
export interface Refused {
  id: string
  why: string
}

/** What is given at once. A page with more goes alone. */
export interface BatchLimits {
  pages: number
  items: number
  /** Of the items' data. */
  bytes: number
  /** How long a batch that is not full waits for more. */
  seconds: number
}

export const USUAL_BATCH: BatchLimits = { pages: 200, items: 1000, bytes: 4_000_000, seconds: 0 }

/** A place that items go to besides the database. Between two batches it holds nothing open. */
export interface Sink {
  batch: BatchLimits
  /**
   * Gives it items; when this resolves they are safe there, but for those that it names.
   * @throws SinkRefusal or SinkFailure when the batch is at fault, or may be; any other error means that the sink is away.
   */
  write(records: SinkRecord[]): Promise<Refused[]>
}

/** The batch is at fault, or an item in it. */
export class SinkRefusal extends Error {
  override name = 'SinkRefusal'
}

/** The sink failed at this batch: it may be at fault itself, or an item that it always fails at. */
export class SinkFailure extends Error {
  override name = 'SinkFailure'
}

/** The sink is away, and says for how long. */
export class SinkBusy extends Error {
  override name = 'SinkBusy'

  constructor(
    message: string,
    readonly waitMs: number,
  ) {
    super(message)
  }
}

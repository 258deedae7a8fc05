// The client of Orbweaver's API, made from its description (/api/v1/openapi.json). It needs nothing but fetch: Node 20 or
// newer, Deno, Bun or a browser. Take the file as it is; a running Orbweaver has its own at /api/v1/typescript.

export interface Alert {
  id: number
  rule: string
  /** Such as `queue:crawl_queue`, `run:7`, or `all`. */
  subject: string
  state: "pending" | "firing" | "resolved"
  figure: number
  threshold: number
  windowMinutes: number
  facts: Record<string, string | number>
  startedAt: string
  endedAt: string | null
}

export interface AlertRule {
  kind: "success_rate" | "failed_urls" | "blocked" | "backlog_growth" | "backlog_age" | "silent_worker" | "restarts" | "out_of_memory" | "missed_fire" | "redis_memory" | "sink_age" | "sink_refused"
  enabled: boolean
  threshold: number
  unit: "ratio" | "count" | "minutes"
  windowMinutes: number
  /** Whether the figure looks back over `windowMinutes`. */
  windowed: boolean
  holdMinutes: number
  /** Ids; null for all that are switched on. */
  channels: number[] | null
  silentUntil: string | null
}

export interface Change {
  id: number
  at: string
  /** An e-mail address, an API key, or a process. */
  actor: string
  action: string
  subject: string
  /** Where `subject` is an id: what people call it. */
  subjectName: string | null
  detail: unknown
}

export interface Channel {
  id: number
  kind: "webhook" | "email" | "slack" | "dingtalk" | "feishu" | "wecom" | "telegram"
  name: string
  enabled: boolean
  /** Enough of the address to know it again. */
  shown: string
}

export interface Delivery {
  id: number
  alertId: number | null
  event: "firing" | "resolved" | "test"
  channel: string | null
  state: "waiting" | "sending" | "sent" | "dead"
  attempts: number
  nextAt: string
  tries: {
    at: string
    ms: number
    answer: string
  }[]
  createdAt: string
}

export interface Figures {
  at: string
  queues: {
    name: string
    inbox: number
    pending: number
    running: number
    retry: number
    failed: number
    paused: boolean
    draining: boolean
  }[]
  /** URLs that wait: inbox, pending and retry of all queues. */
  backlog: number
  running: number
  /** Over the last ten seconds. */
  pagesPerSecond: number | null
  /** 0 to 1; null when nothing ended. */
  successRate: number | null
  lastHour: {
    done: number
    failed: number
  }
  workers: number
  /** Of the last 24 hours. */
  restarts: number
  /** Those of them for lack of memory. */
  outOfMemory: number
}

export interface Fire {
  id: number
  fireAt: string
  kind: "fired" | "queued" | "skipped" | "missed"
  reason: string | null
  runId: number | null
  runState: "preparing" | "seeding" | "running" | "cancelling" | "finished" | "cancelled" | "failed" | null
}

export interface HistoryPoint {
  at: string
  backlog: number
  running: number
  pagesPerSecond: number | null
  /** 0 to 1; null when nothing ended. */
  successRate: number | null
  restarts: number
}

export interface Host {
  host: string
  pending: number
  running: number
  /** Nothing from it before, in ms since 1970: spacing; 0 for never asked. */
  nextAt: number
  /** The same, because it asked for that (Retry-After). */
  heldUntil: number
  /** Its own least delay (robots.txt). */
  ownDelayMs: number
  /** An operator’s delay in place of the queue’s. */
  rateMs: number | null
  lastError: {
    reason: string
    status: number | null
    detail: string | null
    at: string
  } | null
}

export interface Item {
  /** Of the page that it was taken from. */
  hash: string
  /** Its number on that page. */
  n: number
  url: string
  data: Record<string, unknown>
}

export interface ListedPage {
  /** SHA-256 of the canonical URL, as hex. */
  hash: string
  url: string
  state: "done" | "failed" | "ignored"
  /** Class of the error, such as `http_404`. */
  reason: string | null
  detail: string | null
  status: number | null
  title: string | null
  /** Links away from the nearest seed. */
  depth: number
  ms: number | null
  bytes: number | null
  attempts: number
  fetchedAt: string
  items: number
}

export interface ListedSpider {
  id: number
  name: string
  version: number
  updatedAt: string
}

export interface Page {
  /** SHA-256 of the canonical URL, as hex. */
  hash: string
  url: string
  state: "done" | "failed" | "ignored"
  /** Class of the error, such as `http_404`. */
  reason: string | null
  detail: string | null
  status: number | null
  title: string | null
  /** Links away from the nearest seed. */
  depth: number
  ms: number | null
  bytes: number | null
  attempts: number
  fetchedAt: string
  run: number
  queue: string
  finalUrl: string | null
  host: string | null
  contentType: string | null
  charset: string | null
  flags: string | null
  /** Times that a worker began it. */
  deliveries: number
  /** It waits for another try; all else tells of the time before. */
  again: boolean
  itemCount: number
  /** The first twenty. */
  items: {
    n: number
    name: string
    data: Record<string, unknown>
  }[]
  /** The page that linked to it first, the one that linked to that, and so on to a seed. */
  referrers: {
    url: string
    hash: string | null
    title: string | null
    depth: number | null
  }[]
}

export interface Problem {
  error: {
    /** A word for programs, such as `run_unknown`. */
    code: string
    /** What is wrong and what to do about it. */
    message: string
    /** Names the request in the log of the console. */
    request: string
    /** With `input`: each place of the input that can’t be used. */
    faults?: {
      at: string
      message: string
    }[]
  }
}

export interface Proxy {
  id: number
  /** Its address without what is secret. */
  shown: string
  author: string
  /** How well it serves, from 0 to 1. */
  score: number
  /** Null: it does not rest. */
  restsUntil: string | null
  uses: number
}

export interface Queue {
  name: string
  kind: "http" | "render"
  /** Between two fetch starts on one host, over all workers. */
  delayMs: number
  /** Fetches at once on one host, where there is no delay. */
  perHost: number
  /** Fetches at once in each worker. */
  concurrency: number
  /** Fetches at once over all workers; null for no limit. */
  maxRunning: number | null
  /** Whether each host’s delay follows how it answers. */
  adaptive: boolean
  /** When nothing is fetched each day; null for never. */
  quiet: {
    from: string
    to: string
    zone: string
  } | null
  /** How the next proxy is chosen, where there are any. */
  proxies: "turn" | "host" | "health"
  paused: boolean
  draining: boolean
  updatedAt: string
  /** Heard of within the last 30 s. */
  workers: number
}

export interface Run {
  id: number
  spider: string
  queue: string
  /** Over with `finished`, `cancelled` and `failed`. */
  state: "preparing" | "seeding" | "running" | "cancelling" | "finished" | "cancelled" | "failed"
  trigger: "manual" | "schedule" | "cli" | "inbox"
  startedBy: string | null
  error: string | null
  createdAt: string
  finishedAt: string | null
  /** Pages: admitted is the sum of the others. */
  counts: {
    admitted: number
    pending: number
    running: number
    retry: number
    done: number
    failed: number
    ignored: number
    cancelled: number
  }
  items: number
  pagesPerSecond: number | null
}

export interface ScaleRequest {
  id: number
  queue: string
  kind: "http" | "render"
  /** Workers alive when it was asked for. */
  previous: number
  wanted: number
  reason: string | null
  state: "waiting" | "running" | "done" | "failed" | "superseded"
  /** Progress, then result. */
  detail: string | null
  author: string | null
  createdAt: string
  finishedAt: string | null
}

export interface Schedule {
  id: number
  name: string
  /** Null when it is gone. */
  spider: string | null
  queue: string
  cron: string
  zone: string
  overlap: "skip" | "queue" | "parallel"
  missed: "skip" | "once" | "all"
  enabled: boolean
  /** What the expression says in words. */
  reading: string | null
  /** The next five fires; none while it is stopped. */
  next: string[]
  /** The newest time that it was due. */
  last: Fire | null
}

export interface Seed {
  id: number
  url: string
  priority: number
  depth: number
  /** JSON that came with the URL, as text. */
  meta: string | null
  enabled: boolean
  /** Since when runs begin with it. */
  createdAt: string
}

export interface SeedImport {
  id: number
  fileName: string
  state: "running" | "finished" | "failed"
  rows: number
  accepted: number
  duplicates: number
  rejected: number
  error: string | null
  author: string | null
  createdAt: string
  finishedAt: string | null
}

export interface SignIn {
  origin: string
  kind: "basic" | "bearer" | "headers"
  /** The user, or the names of the headers; never a secret. */
  shown: string
  author: string
  updatedAt: string
}

export interface Spider {
  id: number
  name: string
  version: number
  /** What to crawl and what to take from it, as docs/spiders.md describes; what is left out has its default. */
  definition: Record<string, unknown>
}

export interface SpiderVersion {
  version: number
  author: string | null
  createdAt: string
}

export interface Worker {
  id: string
  kind: "http" | "render"
  queue: string
  hostname: string
  pid: number
  state: "running" | "draining" | "stopped" | "lost"
  /** Pages in work at its last heartbeat. */
  running: number
  concurrency: number | null
  done: number
  failed: number
  rssBytes: number
  startedAt: string
  heartbeatAt: string
  stoppedAt: string | null
}

export interface WorkerEvent {
  id: number
  workerId: string
  queue: string
  kind: "start" | "stop" | "lost" | "restart" | "oom"
  detail: string | null
  at: string
}

/** What each operation takes and answers. */
export interface Operations {
  /** All spiders, by name */
  listSpiders: {
    input: {}
    answer: {
      data: ListedSpider[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Make a spider */
  createSpider: {
    input: {
      /** What to crawl and what to take from it, as docs/spiders.md describes; what is left out has its default. */
      definition: Record<string, unknown>
    }
    answer: Spider
  }
  /** Every fault of a definition, without saving it */
  checkSpider: {
    input: {
      /** What to crawl and what to take from it, as docs/spiders.md describes; what is left out has its default. */
      definition: Record<string, unknown>
    }
    answer: {
      /** Each begins with its place; empty when the definition can be used. */
      faults: string[]
      /** With all defaults filled in; null when there are faults. */
      definition: Record<string, unknown> | null
    }
  }
  /** One spider */
  readSpider: {
    input: {
      spider: string
    }
    answer: Spider
  }
  /** Replace what a spider does */
  changeSpider: {
    input: {
      spider: string
      /** What to crawl and what to take from it, as docs/spiders.md describes; what is left out has its default. */
      definition: Record<string, unknown>
      /** The version that was changed. When it is another meanwhile the answer is 409; absent: whatever is there is replaced. */
      version?: number
    }
    answer: Spider
  }
  /** Versions of a spider, newest first */
  listSpiderVersions: {
    input: {
      spider: string
      /** `next` of the answer before; absent for the first one. */
      cursor?: string
      /** Most entries of one answer. */
      limit?: number
    }
    answer: {
      data: SpiderVersion[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** What a spider was at a version */
  readSpiderVersion: {
    input: {
      spider: string
      version: number
    }
    answer: {
      version: number
      /** What to crawl and what to take from it, as docs/spiders.md describes; what is left out has its default. */
      definition: Record<string, unknown>
    }
  }
  /** Where a spider signs in */
  listSignIns: {
    input: {
      spider: string
    }
    answer: {
      data: SignIn[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Let a spider sign in at a site */
  setSignIn: {
    input: {
      spider: string
      /** Such as `https://example.com`. */
      origin: string
      credentials: {
        kind: "basic"
        user: string
        password: string
      } | {
        kind: "bearer"
        token: string
      } | {
        kind: "headers"
        headers: Record<string, string>
      }
    }
    answer: void
  }
  /** Let a spider no longer sign in at a site */
  removeSignIn: {
    input: {
      spider: string
      origin: string
    }
    answer: void
  }
  /** Seeds of a spider, newest first */
  listSeeds: {
    input: {
      spider: string
      /** What stands somewhere in the URL. */
      search?: string
      /** `next` of the answer before; absent for the first one. */
      cursor?: string
      /** Most entries of one answer. */
      limit?: number
    }
    answer: {
      data: Seed[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Add up to 10,000 seeds */
  addSeeds: {
    input: {
      spider: string
      seeds: {
        url: string
        /** −1000 to 1000; the highest goes first. */
        priority?: number
        /** Links that this URL already is away from its beginning. */
        depth?: number
        /** Handed on to the items unread. */
        meta?: unknown
      }[]
    }
    answer: {
      added: number
      /** There before, or twice in this call. */
      known: number
      refused: {
        /** Place in `seeds`, from 0. */
        at: number
        url: string
        reason: string
      }[]
    }
  }
  /** How many seeds a spider has */
  countSeeds: {
    input: {
      spider: string
    }
    answer: {
      count: number
    }
  }
  /** Put seeds to use or out of it */
  enableSeeds: {
    input: {
      spider: string
      ids: number[]
      enabled: boolean
    }
    answer: {
      changed: number
    }
  }
  /** Remove seeds */
  deleteSeeds: {
    input: {
      spider: string
      ids: number[]
    }
    answer: {
      changed: number
    }
  }
  /** Import a file of seeds */
  importSeeds: {
    input: {
      spider: string
      fileName?: string
      /** One bad line, and nothing of the file is kept. */
      wholeOnly?: boolean
      encoding?: "utf-8" | "utf-16le" | "utf-16be" | "gb18030"
      /** The content of the file. */
      file: BodyInit & (Blob | string | Uint8Array)
    }
    answer: {
      id: number
      rows: number
      accepted: number
      duplicates: number
      rejected: number
      kept: boolean
      /** The first thousand rejected lines. */
      report: {
        line: number
        text: string
        reason: string
      }[]
    }
  }
  /** The newest imports of a spider */
  listImports: {
    input: {
      spider: string
      /** Most entries of one answer. */
      limit?: number
    }
    answer: {
      data: SeedImport[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Lines of an import that were rejected, as CSV */
  readRejectedLines: {
    input: {
      import: number
    }
    answer: Response
  }
  /** Schedules, by name */
  listSchedules: {
    input: {
      /** Part of the name. */
      search?: string
      queue?: string
      enabled?: boolean
      /** `next` of the answer before; absent for the first one. */
      cursor?: string
      /** Most entries of one answer. */
      limit?: number
    }
    answer: {
      data: Schedule[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Make a schedule */
  createSchedule: {
    input: {
      name: string
      spider: string
      queue: string
      /** Five or six fields. */
      cron: string
      /** IANA name; absent: TZ of the installation. */
      zone?: string
      /** What a fire does while an earlier run goes on; `skip` if absent. */
      overlap?: "skip" | "queue" | "parallel"
      /** What becomes of fires that nobody was there for; `once` if absent. */
      missed?: "skip" | "once" | "all"
      enabled?: boolean
    }
    answer: Schedule
  }
  /** The next instants of an expression, before it is saved */
  previewSchedule: {
    input: {
      cron: string
      zone: string
      count?: number
    }
    answer: {
      reading: string | null
      fires: string[]
    }
  }
  /** One schedule */
  readSchedule: {
    input: {
      schedule: number
    }
    answer: Schedule
  }
  /** Replace a schedule */
  changeSchedule: {
    input: {
      schedule: number
      name: string
      spider: string
      queue: string
      /** Five or six fields. */
      cron: string
      /** IANA name; absent: TZ of the installation. */
      zone?: string
      /** What a fire does while an earlier run goes on; `skip` if absent. */
      overlap?: "skip" | "queue" | "parallel"
      /** What becomes of fires that nobody was there for; `once` if absent. */
      missed?: "skip" | "once" | "all"
      enabled?: boolean
    }
    answer: Schedule
  }
  /** Remove a schedule */
  deleteSchedule: {
    input: {
      schedule: number
    }
    answer: void
  }
  /** Let a schedule fire */
  enableSchedule: {
    input: {
      schedule: number
    }
    answer: void
  }
  /** Stop a schedule */
  disableSchedule: {
    input: {
      schedule: number
    }
    answer: void
  }
  /** Stop all schedules that match, or let them fire */
  enableSchedules: {
    input: {
      /** Part of the name. */
      search?: string
      queue?: string
      enabled: boolean
    }
    answer: {
      changed: number
    }
  }
  /** Start a run of a schedule now */
  runSchedule: {
    input: {
      schedule: number
    }
    answer: {
      run: number
    }
  }
  /** What became of each time a schedule was due, newest first */
  listFires: {
    input: {
      schedule: number
      /** `next` of the answer before; absent for the first one. */
      cursor?: string
      /** Most entries of one answer. */
      limit?: number
    }
    answer: {
      data: Fire[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Runs, newest first */
  listRuns: {
    input: {
      /** `next` of the answer before; absent for the first one. */
      cursor?: string
      /** Most entries of one answer. */
      limit?: number
    }
    answer: {
      data: Run[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Start a run */
  startRun: {
    input: {
      /** Absent: the built-in one. */
      spider?: string
      url?: string
      /** Absent: QUEUE_KEY of the installation. */
      queue?: string
    }
    answer: Run
  }
  /** One run with its counts of this moment */
  readRun: {
    input: {
      run: number
    }
    answer: Run
  }
  /** End a run */
  cancelRun: {
    input: {
      run: number
    }
    answer: {
      state: "preparing" | "seeding" | "running" | "cancelling" | "finished" | "cancelled" | "failed"
    }
  }
  /** How the pages of a run compare with the visit before */
  readRevisits: {
    input: {
      run: number
    }
    answer: {
      /** As they were: their items stand in an earlier run. */
      unchanged: number
      /** There the last time, and not any more. */
      gone: number
      /** Passed over, because their next visit is not due. */
      notDue: number
    }
  }
  /** Give failed pages of a run another chance */
  retryPages: {
    input: {
      run: number
      /** These alone. */
      hashes?: string[]
      /** All failed ones that answer to it; {}: all. */
      filter?: {
        host?: string
        status?: number
        reason?: string
        depth?: number
        url?: string
      }
    }
    answer: {
      /** Pages that wait again. */
      retried: number
    }
  }
  /** Pages of a run that ended, newest first */
  listPages: {
    input: {
      run: number
      state?: "done" | "failed" | "ignored"
      host?: string
      status?: number
      reason?: string
      depth?: number
      url?: string
      /** `next` of the answer before; absent for the first one. */
      cursor?: string
      /** Most entries of one answer. */
      limit?: number
    }
    answer: {
      data: ListedPage[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** How many pages of a run answer to a filter */
  countPages: {
    input: {
      run: number
      state?: "done" | "failed" | "ignored"
      host?: string
      status?: number
      reason?: string
      depth?: number
      url?: string
    }
    answer: {
      count: number
      /** False when counting took too long: then there are at least so many. */
      whole: boolean
    }
  }
  /** Hosts, statuses and classes of error that pages of a run have */
  readPageFacets: {
    input: {
      run: number
    }
    answer: {
      hosts: string[]
      statuses: number[]
      reasons: string[]
    }
  }
  /** Pages of a run that answer to a filter, as a file */
  downloadPages: {
    input: {
      run: number
      state?: "done" | "failed" | "ignored"
      host?: string
      status?: number
      reason?: string
      depth?: number
      url?: string
      format: "csv" | "jsonl" | "txt"
    }
    answer: Response
  }
  /** One page with its items and the way that led to it */
  readPage: {
    input: {
      run: number
      /** SHA-256 of the canonical URL, as hex. */
      hash: string
    }
    answer: Page
  }
  /** Give one failed page another chance */
  retryPage: {
    input: {
      run: number
      /** SHA-256 of the canonical URL, as hex. */
      hash: string
    }
    answer: {
      /** 0 when it is not a failed page. */
      retried: number
    }
  }
  /** A page as it was kept */
  readPageContent: {
    input: {
      run: number
      /** SHA-256 of the canonical URL, as hex. */
      hash: string
    }
    answer: Response
  }
  /** The kinds of item that a run takes, each with its fields */
  listItemKinds: {
    input: {
      run: number
    }
    answer: {
      data: {
        name: string
        fields: string[]
      }[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Items of a run, by page */
  listItems: {
    input: {
      run: number
      /** One of the kinds that the run takes. */
      kind: string
      search?: string
      /** `next` of the answer before; absent for the first one. */
      cursor?: string
      /** Most entries of one answer. */
      limit?: number
    }
    answer: {
      data: Item[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Items of a run as a file */
  downloadItems: {
    input: {
      run: number
      /** One of the kinds that the run takes. */
      kind: string
      format: "csv" | "jsonl" | "json"
      /** Names with a comma between; absent: all. */
      fields?: string
      /** Begin CSV with a byte order mark, for spreadsheets. */
      mark?: "1"
    }
    answer: Response
  }
  /** All queues with their settings */
  listQueues: {
    input: {}
    answer: {
      data: Queue[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** One queue with its settings */
  readQueue: {
    input: {
      queue: string
    }
    answer: Queue
  }
  /** Change settings of a queue */
  changeQueue: {
    input: {
      queue: string
      /** Between two fetch starts on one host, over all workers. */
      delayMs?: number
      /** Fetches at once on one host, where there is no delay. */
      perHost?: number
      /** Fetches at once in each worker. */
      concurrency?: number
      maxRunning?: number | null
      /** Whether each host’s delay follows how it answers. */
      adaptive?: boolean
      /** When nothing is fetched each day; null for never. */
      quiet?: {
        from: string
        to: string
        zone: string
      } | null
      /** How the next proxy is chosen, where there are any. */
      proxies?: "turn" | "host" | "health"
    }
    answer: Queue
  }
  /** Begin no page of a queue any more */
  pauseQueue: {
    input: {
      queue: string
    }
    answer: Queue
  }
  /** Let a queue go on after a pause or a drain */
  resumeQueue: {
    input: {
      queue: string
    }
    answer: Queue
  }
  /** Take nothing new into a queue, and work off what is there */
  drainQueue: {
    input: {
      queue: string
    }
    answer: Queue
  }
  /** Drop what waits in a queue */
  purgeQueue: {
    input: {
      queue: string
      /** At most so many: the number that is known to wait. */
      confirmed: number
    }
    answer: {
      cancelled: number
      /** Entries of the inbox. */
      rejected: number
    }
  }
  /** Push up to 10,000 URLs to the inbox of a queue */
  enqueue: {
    input: {
      queue: string
      urls: (string | {
        url: string
        /** Absent: the built-in one. */
        spider?: string
        /** −1000 to 1000; the highest goes first. */
        priority?: number
        depth?: number
        /** Handed on to the items unread. */
        meta?: unknown
      })[]
    }
    answer: {
      queued: number
      verdicts: {
        url: string
        /** `repeated`: it stands earlier in this call. */
        verdict: "queued" | "repeated" | "refused"
        /** Why it was refused. */
        reason: string | null
      }[]
    }
  }
  /** Hosts with work in a queue, by name */
  listHosts: {
    input: {
      queue: string
      /** How the name begins. */
      prefix?: string
      /** `next` of the answer before; absent for the first one. */
      cursor?: string
      /** Most entries of one answer. */
      limit?: number
    }
    answer: {
      data: Host[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Give a host a delay of its own */
  setHostDelay: {
    input: {
      queue: string
      host: string
      /** Null: the queue’s again. */
      delayMs: number | null
    }
    answer: void
  }
  /** Why a URL waits, or what became of it */
  whyWaiting: {
    input: {
      queue: string
      url: string
      /** Absent: the newest run that knows the URL. */
      run?: number
    }
    answer: {
      url: string
      run: number
      state: "pending" | "running" | "retry" | "done" | "failed" | "ignored" | "cancelled" | "unknown"
      /** Every limit that keeps it, the nearest first, with what belongs to it. Times are ms since 1970. */
      causes: {
        kind: string
        [name: string]: unknown
      }[]
    }
  }
  /** Proxies of a queue, and how they do */
  listProxies: {
    input: {
      queue: string
    }
    answer: {
      data: Proxy[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Give a queue proxies */
  addProxies: {
    input: {
      queue: string
      /** Such as `socks5://user:password@proxy.example:1080`. */
      proxies: string[]
    }
    answer: {
      added: number
      refused: {
        /** Place in `proxies`, from 0. */
        at: number
        reason: string
      }[]
    }
  }
  /** Take a proxy from a queue */
  removeProxy: {
    input: {
      queue: string
      proxy: number
    }
    answer: void
  }
  /** Workers, the one that was heard of last in front */
  listWorkers: {
    input: {
      show?: "alive" | "gone"
      queue?: string
      /** `next` of the answer before; absent for the first one. */
      cursor?: string
      /** Most entries of one answer. */
      limit?: number
    }
    answer: {
      data: Worker[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Starts, stops and losses of workers, newest first */
  listWorkerEvents: {
    input: {
      restartsOnly?: boolean
      /** `next` of the answer before; absent for the first one. */
      cursor?: string
      /** Most entries of one answer. */
      limit?: number
    }
    answer: {
      data: WorkerEvent[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Requests for workers, newest first */
  listScaleRequests: {
    input: {
      queue?: string
      /** `next` of the answer before; absent for the first one. */
      cursor?: string
      /** Most entries of one answer. */
      limit?: number
    }
    answer: {
      data: ScaleRequest[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Ask for a number of workers on a queue */
  requestScale: {
    input: {
      queue: string
      wanted: number
      reason?: string
    }
    answer: ScaleRequest
  }
  /** How far requests of each queue may go */
  listScaleLimits: {
    input: {}
    answer: {
      data: {
        queue: string
        fewest: number
        most: number
        /** Largest swing within a minute; null for any. */
        perMinute: number | null
        /** Whether the scheduler asks by itself. */
        auto: boolean
        upSeconds: number
        downSeconds: number
      }[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Set how far requests of a queue may go */
  setScaleLimits: {
    input: {
      queue: string
      fewest: number
      most: number
      /** Largest swing within a minute; null for any. */
      perMinute: number | null
      /** Whether the scheduler asks by itself. */
      auto: boolean
      upSeconds: number
      downSeconds: number
    }
    answer: void
  }
  /** The state of everything at this moment */
  readFigures: {
    input: {}
    answer: Figures
  }
  /** Backlog and throughput of the past, oldest first */
  readHistory: {
    input: {
      range: "1h" | "24h" | "30d"
      /** Absent: all queues together. */
      queue?: string
    }
    answer: {
      data: HistoryPoint[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** What is behind the failures of the last hour */
  readFailures: {
    input: {}
    answer: {
      /** Failures that were looked at. */
      total: number
      reasons: {
        reason: string
        detail: string | null
        count: number
      }[]
      hosts: {
        host: string
        count: number
        reason: string
      }[]
      /** The run with most of them. */
      run: number | null
    }
  }
  /** Queues whose backlog has grown for five minutes */
  readGrowth: {
    input: {}
    answer: {
      data: {
        queue: string
        from: number
        to: number
        workers: number
        /** Share of the workers’ places that are taken. */
        load: number | null
        /** Workers to ask for; null when more would not help. */
        suggested: number | null
      }[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Alerts of the last 90 days, newest first */
  listAlerts: {
    input: {
      /** `next` of the answer before; absent for the first one. */
      cursor?: string
      /** Most entries of one answer. */
      limit?: number
    }
    answer: {
      data: Alert[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** What fires now */
  listFiringAlerts: {
    input: {}
    answer: {
      data: Alert[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Every rule as it stands */
  listAlertRules: {
    input: {}
    answer: {
      data: AlertRule[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Change a rule */
  changeAlertRule: {
    input: {
      kind: "success_rate" | "failed_urls" | "blocked" | "backlog_growth" | "backlog_age" | "silent_worker" | "restarts" | "out_of_memory" | "missed_fire" | "redis_memory" | "sink_age" | "sink_refused"
      enabled: boolean
      threshold: number
      windowMinutes: number
      holdMinutes: number
      channels: number[] | null
    }
    answer: void
  }
  /** Send nothing for a rule until then */
  silenceAlertRule: {
    input: {
      kind: "success_rate" | "failed_urls" | "blocked" | "backlog_growth" | "backlog_age" | "silent_worker" | "restarts" | "out_of_memory" | "missed_fire" | "redis_memory" | "sink_age" | "sink_refused"
      /** Null ends the silence. */
      until: string | null
    }
    answer: void
  }
  /** Where alerts are sent, without the secrets */
  listChannels: {
    input: {}
    answer: {
      data: Channel[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Messages of the last 90 days with their tries, newest first */
  listDeliveries: {
    input: {
      /** `next` of the answer before; absent for the first one. */
      cursor?: string
      /** Most entries of one answer. */
      limit?: number
    }
    answer: {
      data: Delivery[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
  /** Send a message again that was sent or given up */
  replayDelivery: {
    input: {
      delivery: number
    }
    answer: void
  }
  /** Who changed what, newest first */
  listChanges: {
    input: {
      actor?: string
      /** What was done, such as `run.start`. */
      action?: string
      subject?: string
      from?: string
      /** Not included. */
      to?: string
      /** `next` of the answer before; absent for the first one. */
      cursor?: string
      /** Most entries of one answer. */
      limit?: number
    }
    answer: {
      data: Change[]
      /** Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none. */
      next: string | null
    }
  }
}

const ROUTES: { [O in keyof Operations]: Route } = {
  listSpiders: { method: 'GET', path: '/spiders' },
  createSpider: { method: 'POST', path: '/spiders', once: true },
  checkSpider: { method: 'POST', path: '/spiders/check' },
  readSpider: { method: 'GET', path: '/spiders/{spider}' },
  changeSpider: { method: 'PUT', path: '/spiders/{spider}' },
  listSpiderVersions: { method: 'GET', path: '/spiders/{spider}/versions', query: ['cursor', 'limit'] },
  readSpiderVersion: { method: 'GET', path: '/spiders/{spider}/versions/{version}' },
  listSignIns: { method: 'GET', path: '/spiders/{spider}/sign-ins' },
  setSignIn: { method: 'PUT', path: '/spiders/{spider}/sign-ins' },
  removeSignIn: { method: 'DELETE', path: '/spiders/{spider}/sign-ins', query: ['origin'] },
  listSeeds: { method: 'GET', path: '/spiders/{spider}/seeds', query: ['search', 'cursor', 'limit'] },
  addSeeds: { method: 'POST', path: '/spiders/{spider}/seeds' },
  countSeeds: { method: 'GET', path: '/spiders/{spider}/seeds/count' },
  enableSeeds: { method: 'POST', path: '/spiders/{spider}/seeds/enable' },
  deleteSeeds: { method: 'POST', path: '/spiders/{spider}/seeds/delete' },
  importSeeds: { method: 'POST', path: '/spiders/{spider}/seeds/file', query: ['fileName', 'wholeOnly', 'encoding'], file: 'taken' },
  listImports: { method: 'GET', path: '/spiders/{spider}/imports', query: ['limit'] },
  readRejectedLines: { method: 'GET', path: '/imports/{import}/rejected', file: 'sent' },
  listSchedules: { method: 'GET', path: '/schedules', query: ['search', 'queue', 'enabled', 'cursor', 'limit'] },
  createSchedule: { method: 'POST', path: '/schedules', once: true },
  previewSchedule: { method: 'POST', path: '/schedules/preview' },
  readSchedule: { method: 'GET', path: '/schedules/{schedule}' },
  changeSchedule: { method: 'PUT', path: '/schedules/{schedule}' },
  deleteSchedule: { method: 'DELETE', path: '/schedules/{schedule}' },
  enableSchedule: { method: 'POST', path: '/schedules/{schedule}/enable' },
  disableSchedule: { method: 'POST', path: '/schedules/{schedule}/disable' },
  enableSchedules: { method: 'POST', path: '/schedules/enable' },
  runSchedule: { method: 'POST', path: '/schedules/{schedule}/run', once: true },
  listFires: { method: 'GET', path: '/schedules/{schedule}/fires', query: ['cursor', 'limit'] },
  listRuns: { method: 'GET', path: '/runs', query: ['cursor', 'limit'] },
  startRun: { method: 'POST', path: '/runs', once: true },
  readRun: { method: 'GET', path: '/runs/{run}' },
  cancelRun: { method: 'POST', path: '/runs/{run}/cancel' },
  readRevisits: { method: 'GET', path: '/runs/{run}/revisits' },
  retryPages: { method: 'POST', path: '/runs/{run}/retry', once: true },
  listPages: { method: 'GET', path: '/runs/{run}/pages', query: ['state', 'host', 'status', 'reason', 'depth', 'url', 'cursor', 'limit'] },
  countPages: { method: 'GET', path: '/runs/{run}/pages/count', query: ['state', 'host', 'status', 'reason', 'depth', 'url'] },
  readPageFacets: { method: 'GET', path: '/runs/{run}/pages/facets' },
  downloadPages: { method: 'GET', path: '/runs/{run}/pages/file', query: ['state', 'host', 'status', 'reason', 'depth', 'url', 'format'], file: 'sent' },
  readPage: { method: 'GET', path: '/runs/{run}/pages/{hash}' },
  retryPage: { method: 'POST', path: '/runs/{run}/pages/{hash}/retry', once: true },
  readPageContent: { method: 'GET', path: '/runs/{run}/pages/{hash}/content', file: 'sent' },
  listItemKinds: { method: 'GET', path: '/runs/{run}/items/kinds' },
  listItems: { method: 'GET', path: '/runs/{run}/items', query: ['kind', 'search', 'cursor', 'limit'] },
  downloadItems: { method: 'GET', path: '/runs/{run}/items/file', query: ['kind', 'format', 'fields', 'mark'], file: 'sent' },
  listQueues: { method: 'GET', path: '/queues' },
  readQueue: { method: 'GET', path: '/queues/{queue}' },
  changeQueue: { method: 'PATCH', path: '/queues/{queue}' },
  pauseQueue: { method: 'POST', path: '/queues/{queue}/pause' },
  resumeQueue: { method: 'POST', path: '/queues/{queue}/resume' },
  drainQueue: { method: 'POST', path: '/queues/{queue}/drain' },
  purgeQueue: { method: 'POST', path: '/queues/{queue}/purge', once: true },
  enqueue: { method: 'POST', path: '/queues/{queue}/urls' },
  listHosts: { method: 'GET', path: '/queues/{queue}/hosts', query: ['prefix', 'cursor', 'limit'] },
  setHostDelay: { method: 'PUT', path: '/queues/{queue}/hosts/{host}' },
  whyWaiting: { method: 'GET', path: '/queues/{queue}/why', query: ['url', 'run'] },
  listProxies: { method: 'GET', path: '/queues/{queue}/proxies' },
  addProxies: { method: 'POST', path: '/queues/{queue}/proxies' },
  removeProxy: { method: 'DELETE', path: '/queues/{queue}/proxies/{proxy}' },
  listWorkers: { method: 'GET', path: '/workers', query: ['show', 'queue', 'cursor', 'limit'] },
  listWorkerEvents: { method: 'GET', path: '/workers/events', query: ['restartsOnly', 'cursor', 'limit'] },
  listScaleRequests: { method: 'GET', path: '/scale-requests', query: ['queue', 'cursor', 'limit'] },
  requestScale: { method: 'POST', path: '/scale-requests', once: true },
  listScaleLimits: { method: 'GET', path: '/scale-limits' },
  setScaleLimits: { method: 'PUT', path: '/scale-limits/{queue}' },
  readFigures: { method: 'GET', path: '/figures' },
  readHistory: { method: 'GET', path: '/figures/history', query: ['range', 'queue'] },
  readFailures: { method: 'GET', path: '/figures/failures' },
  readGrowth: { method: 'GET', path: '/figures/growth' },
  listAlerts: { method: 'GET', path: '/alerts', query: ['cursor', 'limit'] },
  listFiringAlerts: { method: 'GET', path: '/alerts/firing' },
  listAlertRules: { method: 'GET', path: '/alerts/rules' },
  changeAlertRule: { method: 'PUT', path: '/alerts/rules/{kind}' },
  silenceAlertRule: { method: 'POST', path: '/alerts/rules/{kind}/silence' },
  listChannels: { method: 'GET', path: '/alerts/channels' },
  listDeliveries: { method: 'GET', path: '/alerts/deliveries', query: ['cursor', 'limit'] },
  replayDelivery: { method: 'POST', path: '/alerts/deliveries/{delivery}/replay', once: true },
  listChanges: { method: 'GET', path: '/changes', query: ['actor', 'action', 'subject', 'from', 'to', 'cursor', 'limit'] },
}

interface Route {
  method: string
  path: string
  query?: readonly string[]
  /** It is sent with an Idempotency-Key, so that it may be sent again. */
  once?: boolean
  file?: 'sent' | 'taken'
}

/** What the API refused, or could not do. */
export class OrbweaverError extends Error {
  readonly status: number
  /** A word for programs, such as `run_unknown`. */
  readonly code: string
  /** Names the request in the log of the console. */
  readonly request: string

  constructor(status: number, { code, message, request }: Problem['error']) {
    super(message)
    this.name = 'OrbweaverError'
    this.status = status
    this.code = code
    this.request = request
  }
}

type Call<I, A> = (...given: Record<never, never> extends I ? [input?: I, signal?: AbortSignal] : [input: I, signal?: AbortSignal]) => Promise<A>

/** Each operation as a method. */
export type Orbweaver = { [O in keyof Operations]: Call<Operations[O]['input'], Operations[O]['answer']> }

const MOST_TRIES = 4
const LONGEST_WAIT_S = 60

/**
 * @param address where the console is, such as http://localhost:3000
 * @param key an API key.
 * Methods throw an OrbweaverError for what was refused. When a key asks too often or the other side is away for a moment,
 * what can be sent again is sent again, four times at most.
 */
export function createOrbweaver(address: string, key: string): Orbweaver {
  const base = `${address.replace(/\/+$/, '')}/api/v1`
  return Object.fromEntries(
    Object.entries(ROUTES).map(([id, route]) => [
      id,
      (input: Record<string, unknown> = {}, signal?: AbortSignal) => call(base, key, route, input, signal),
    ]),
  ) as unknown as Orbweaver
}

/** All entries of a list, from answer to answer: `for await (const run of entriesOf(orbweaver.listRuns, {})) …`. */
export async function* entriesOf<I extends { cursor?: string }, T>(
  list: (input: I) => Promise<{ data: T[]; next: string | null }>,
  input: I,
): AsyncGenerator<T> {
  let cursor: string | null | undefined
  do {
    const { data, next } = await list(cursor ? { ...input, cursor } : input)
    yield* data
    cursor = next
  } while (cursor !== null)
}

async function call(base: string, key: string, route: Route, input: Record<string, unknown>, signal?: AbortSignal) {
  const rest = { ...input }
  const take = (name: string) => {
    const value = rest[name]
    delete rest[name]
    return value
  }
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(take(name))))
  const query = new URLSearchParams()
  for (const name of route.query ?? []) {
    const value = take(name)
    if (value !== undefined) query.set(name, String(value))
  }
  const headers: Record<string, string> = { authorization: `Bearer ${key}` }
  let body: BodyInit | undefined
  if (route.file === 'taken') body = take('file') as BodyInit
  else if (Object.keys(rest).length > 0) {
    headers['content-type'] = 'application/json'
    body = JSON.stringify(rest)
  }
  if (route.once) headers['idempotency-key'] = crypto.randomUUID()
  const again = route.method === 'GET' || route.once === true
  for (let tries = 1; ; tries++) {
    const response = await fetch(`${base}${path}${query.size > 0 ? `?${query}` : ''}`, {
      method: route.method,
      headers,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    })
    if (response.ok) {
      if (route.file === 'sent') return response
      return response.status === 204 ? undefined : response.json()
    }
    const wait = Number(response.headers.get('retry-after') ?? Number.NaN)
    if (again && tries < MOST_TRIES && wait >= 0 && wait <= LONGEST_WAIT_S) {
      await response.body?.cancel()
      await new Promise((resolve) => setTimeout(resolve, wait * 1000))
      continue
    }
    const told = (await response.json().catch(() => undefined)) as Problem | undefined
    throw new OrbweaverError(
      response.status,
      told?.error ?? { code: 'unknown', message: `Orbweaver answered ${response.status}.`, request: '' },
    )
  }
}

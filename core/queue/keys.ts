/**
 * Every key of a queue. The external ones are the inbox, which is the queue's name, `<inbox>:failed` and
 * `<inbox>:rejected`; all others share one hash slot by their tag. A name with a tag of its own, such as
 * `{news}` or `{shop}:crawl`, puts the external ones into that slot too: that is what Redis Cluster needs.
 */
function frontier(queue: string, part: string): string {
  return ownTag(queue) ? `${queue}:frontier:${part}` : `{${queue}}:frontier:${part}`
}

function ownTag(queue: string): boolean {
  const open = queue.indexOf('{')
  return open >= 0 && queue.indexOf('}', open) > open + 1
}

/** LIST. Anyone may push to it. */
export const inboxKey = (queue: string) => queue
/** LIST of JSON: one entry each time a URL became a dead letter, the newest 10,000. For readers outside; nothing here takes from it. */
export const failedKey = (queue: string) => `${queue}:failed`
/** LIST of JSON: inbox entries that could not be admitted, with the reason; the newest 10,000. */
export const rejectedKey = (queue: string) => `${queue}:rejected`

/** ZSET, all scores 0: `host NUL priority NUL arrival NUL ref`, so that a host's work lies together, in its order. */
export const pendingKey = (queue: string) => frontier(queue, 'pending')
/** HASH ref → record (lua/include/task.lua): every task that is pending, running, in retry or failed. */
export const tasksKey = (queue: string) => frontier(queue, 'tasks')
/** ZSET host → rank: hosts that may be visited now, best first. */
export const readyKey = (queue: string) => frontier(queue, 'ready')
/** ZSET host → ms: hosts with work that must wait until then. */
export const turnKey = (queue: string) => frontier(queue, 'turn')
/** HASH host → `nextAt|heldUntil|inflight|ownDelay|place|priority[|rate|pace|slowedAt]` (lua/include/hosts.lua). */
export const hostKey = (queue: string) => frontier(queue, 'host')
/** ZSET host → ms: hosts without work, and when they are forgotten. */
export const idleKey = (queue: string) => frontier(queue, 'idle')
/** ZSET ref → ms when its retry is due. */
export const delayedKey = (queue: string) => frontier(queue, 'delayed')
/** ZSET ref → ms when its lease lapses. */
export const leasedKey = (queue: string) => frontier(queue, 'leased')
/** ZSET, all scores 0: `run NUL died-at NUL id`, so that a run's dead letters lie together, oldest first. */
export const deadKey = (queue: string) => frontier(queue, 'dead')
/** ZSET token + what it said → ms: the last minute's. */
export const ackedKey = (queue: string) => frontier(queue, 'acked')
/** HASH run → `state|maxPages[.maxPagesPerHost]|dedupe`. */
export const runsKey = (queue: string) => frontier(queue, 'runs')
/** HASH `run.state` → number, and `total.state`. */
export const countsKey = (queue: string) => frontier(queue, 'counts')
/** HASH: epoch, seq, and the live settings. */
export const metaKey = (queue: string) => frontier(queue, 'meta')

/** ZSET worker and number → number: who made the latest claims, by the last number each gave out. */
export const claimsKey = (queue: string) => frontier(queue, 'claims')

/** SET of ids, or part of a Bloom filter: what `scope` has seen (`seen.ts` names the scopes). */
export const seenKey = (queue: string, scope: string) => frontier(queue, `seen:${scope}`)

/** HASH host → URLs of it that a run with a budget a host has admitted. */
export const sharesKey = (queue: string, run: number) => frontier(queue, `shares:${run}`)

/** STRING that expires: what a site answered for its robots.txt (`worker/shared-robots.ts`). */
export const robotsKey = (queue: string, id: string) => frontier(queue, `robots:${id}`)

/** HASH id → `score|failures in a row|rests until|uses`: how the queue's proxies do (lua/report-proxy.lua). */
export const proxyHealthKey = (queue: string) => frontier(queue, 'proxies')
/** ZSET `id host` → ms: until when a host turns a proxy away. */
export const proxyBansKey = (queue: string) => frontier(queue, 'proxies:banned')

/** ZSET address → ms of its next turn (lua/address-turn.lua). */
export const addressesKey = (queue: string) => frontier(queue, 'addresses')
/** ZSET that expires: host → its number in the line for the address. */
export const addressLineKey = (queue: string, address: string) => frontier(queue, `addresses:${address}`)

/** LIST of ids: trials that wait for a worker (`tryouts.ts`). */
export const tryoutsKey = (queue: string) => frontier(queue, 'tryouts')
/** ZSET id → ms: trials whose page is kept, to be forgotten in that order. */
export const tryoutsKeptKey = (queue: string) => frontier(queue, 'tryouts:kept')
/** HASH that expires: one trial. */
export const tryoutKey = (queue: string, id: string) => frontier(queue, `tryout:${id}`)
/** STRING that expires within seconds: a worker has the trial in hand. */
export const tryoutHeldKey = (queue: string, id: string) => frontier(queue, `tryout:${id}:held`)

/** Pattern of all keys of a queue but the external ones. */
export const everyKey = (queue: string) => frontier(queue, '*')

/** The first keys of every script, in the order that lua/include/frontier.lua gives them names. */
export function frontierKeys(queue: string): string[] {
  return [
    pendingKey,
    tasksKey,
    readyKey,
    turnKey,
    hostKey,
    idleKey,
    delayedKey,
    leasedKey,
    deadKey,
    ackedKey,
    runsKey,
    countsKey,
    metaKey,
    inboxKey,
    failedKey,
    rejectedKey,
    claimsKey,
  ].map((key) => key(queue))
}

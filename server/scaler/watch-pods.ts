import type { Services } from '../context'
import { recordWorkerEnd } from '../services/worker-end'
import { WORKERS_LABEL } from './docker-driver'
import { followEnds, lastLines } from './follow-ends'
import type { KubernetesApi } from './kubernetes-api'

const SIGKILLED = 137

interface Terminated {
  containerID?: string
  exitCode: number
  reason?: string
  finishedAt: string
}

interface ContainerStatus {
  name: string
  restartCount: number
  state: { terminated?: Terminated; waiting?: { reason?: string; message?: string } }
  lastState: { terminated?: Terminated }
}

/** What a pod tells, as far as it is used here. */
export interface Pod {
  metadata: { name: string; uid: string; resourceVersion: string; deletionTimestamp?: string }
  spec: {
    containers: {
      name: string
      env?: { name: string; value?: string }[]
      resources?: { limits?: { memory?: string } }
    }[]
  }
  status: { phase: string; reason?: string; message?: string; containerStatuses?: ContainerStatus[] }
}

interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  object: Pod
}

/**
 * Follows the pods of workers in the scaler's namespace, and records each container that ended without its pod having been told to
 * go: why (memory apart), for how many times, and its last lines; and each pod that the cluster evicted. What ended before this
 * watch began was told by the one before it.
 */
export function watchPods(s: Services, api: KubernetesApi): { stop(): Promise<void> } {
  const began = Date.now()
  /** Ends that are on record: ids of containers, and of pods that were evicted. */
  const known = new Set<string>()
  const selector = `labelSelector=${encodeURIComponent(WORKERS_LABEL)}`

  const follow = async (stopped: AbortSignal) => {
    const { items, metadata } = await api.look<{ items: Pod[]; metadata: { resourceVersion: string } }>(
      '/api/v1',
      `pods?${selector}`,
    )
    for (const pod of items) await take(s, api, pod, began, known)
    const changes = api.watch<Change>('/api/v1', `pods?${selector}`, metadata.resourceVersion, stopped)
    for await (const { type, object } of changes) {
      if (type === 'ERROR') return
      if (type !== 'BOOKMARK') await take(s, api, object, began, known)
    }
  }
  return followEnds(s, 'Kubernetes', follow)
}

async function take(
  s: Services,
  api: KubernetesApi,
  pod: Pod,
  began: number,
  known: Set<string>,
): Promise<void> {
  const { name, uid, deletionTimestamp } = pod.metadata
  const main = pod.spec.containers[0]!
  const queue = main.env?.find((one) => one.name === 'QUEUE_KEY')?.value ?? ''
  const about = { name, hostname: name, queue }
  if (pod.status.reason === 'Evicted' && !known.has(uid)) {
    known.add(uid)
    const detail = `evicted: ${pod.status.message ?? 'the server was short of something'}`
    await recordWorkerEnd(s, { ...about, at: Date.now(), kind: 'restart', detail })
  }
  const status = pod.status.containerStatuses?.find((one) => one.name === main.name)
  const again = status?.lastState.terminated
  const end = status?.state.terminated ?? again
  // A pod that is being deleted was told to end, by the scaler or by whoever empties its server.
  if (!status || !end || end.exitCode === 0 || deletionTimestamp) return
  const at = Date.parse(end.finishedAt)
  const id = end.containerID ?? `${uid} ${end.finishedAt}`
  // Seconds are all that is told of times.
  if (known.has(id) || at < began - 1_000) return
  const { kind, why } = await causeOf(api, uid, end, main.resources?.limits?.memory)
  const all = await api.lastLines(name, main.name, 5, end === again).catch(() => '')
  const times = `restart ${status.restartCount + (end === again ? 0 : 1)} of this pod`
  await recordWorkerEnd(s, {
    ...about,
    at,
    kind,
    detail: `${why}; ${times}${lastLines(all)}`,
  })
  // Not before the record is made: if that fails, this pod comes again with the next list.
  known.add(id)
}

async function causeOf(api: KubernetesApi, uid: string, end: Terminated, limit: string | undefined) {
  // Of a kill by the kernel it does not always tell; a 137 that no health check caused is one.
  if (end.reason !== 'OOMKilled') {
    const probe = end.exitCode === SIGKILLED && (await killedByProbe(api, uid))
    if (probe) return { kind: 'restart', why: `killed: ${probe}` } as const
    if (end.exitCode !== SIGKILLED) return { kind: 'restart', why: `exit code ${end.exitCode}` } as const
  }
  return { kind: 'oom', why: `out of memory${limit ? ` (limit ${limit})` : ''}` } as const
}

/** What Kubernetes said when it killed a container of the pod that got on no more. */
async function killedByProbe(api: KubernetesApi, uid: string): Promise<string | undefined> {
  const fields = encodeURIComponent(`involvedObject.uid=${uid},reason=Killing`)
  const { items } = await api.look<{ items: { message?: string }[] }>(
    '/api/v1',
    `events?fieldSelector=${fields}`,
  )
  return items.map(({ message = '' }) => message).find((message) => /failed .*probe/.test(message))
}

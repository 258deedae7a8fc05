import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { KubernetesCluster } from '../../tests/kubernetes-cluster'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { freshName } from '../../tests/services'
import { KubernetesApi } from './kubernetes-api'
import { kubernetesWorkers } from './kubernetes-driver'
import { watchPods } from './watch-pods'

/** What is asked of Kubernetes and made of its answers. What all drivers promise: tests/drivers.test.ts. */
let rig: ServerRig
let cluster: KubernetesCluster
let api: KubernetesApi
let queue: string
beforeAll(async () => {
  rig = await openServerRig()
})
afterAll(() => rig.close())
beforeEach(async () => {
  queue = freshName('pods')
  cluster = await KubernetesCluster.start(queue)
  api = await KubernetesApi.open(cluster.url, cluster.folder)
})
afterEach(async () => {
  await api.close()
  await cluster.close()
})

const scale = (wanted: number) => kubernetesWorkers(api).scale(queue, 'http', wanted)
const running = (n: number) => vi.waitUntil(() => cluster.running().length === n, 20_000)
const told = () =>
  rig.rows<{ worker_id: string; queue: string; kind: string; detail: string }>(
    'SELECT worker_id, queue, kind, detail FROM worker_events WHERE queue = ? ORDER BY id',
    [queue],
  )

test('the role of the manifests allows what is asked, and each part of it is needed', async () => {
  const watch = watchPods(rig.services, api)
  await scale(1)
  await running(1)
  const [pod] = cluster.running()
  await cluster.fault(pod!, { exitCode: 137 }, 'x')
  await vi.waitUntil(async () => (await told()).length === 1, 10_000)
  await watch.stop()
  const granted = cluster.rules.flatMap(({ resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
  )
  expect([...cluster.asked].toSorted()).toEqual(granted.toSorted())
})

test('what the API server refuses is told in its words, with the remedy', async () => {
  cluster.rules = cluster.rules.filter(({ resources }) => !resources.includes('deployments/scale'))
  await expect(scale(2)).rejects.toThrow(
    /^Kubernetes refuses PATCH deployments\/worker\/scale: deployments.apps "worker" is forbidden: User "system:serviceaccount:crawl:scaler" cannot patch .*; give the scaler the role of deploy\/kubernetes/,
  )
  await writeFile(join(cluster.folder, 'token'), 'another')
  await expect(scale(2)).rejects.toThrow(/^Kubernetes refuses GET deployments: Unauthorized$/)
})

test('a token that Kubernetes wrote anew is used from then on', async () => {
  const token = 'of-the-service-account'
  await writeFile(join(cluster.folder, 'token'), 'stale')
  await expect(scale(1)).rejects.toThrow(/Unauthorized/)
  await writeFile(join(cluster.folder, 'token'), token)
  expect(await scale(1)).toBe(0)
})

test('an API server that another authority vouches for is not spoken to', async () => {
  const other = await KubernetesCluster.start('q')
  try {
    await expect(
      KubernetesApi.open(other.url, cluster.folder).then((stranger) =>
        kubernetesWorkers(stranger).scale('q', 'http', 1),
      ),
    ).rejects.toThrow(/does not answer \(self[- ]signed certificate\)/)
    expect(other.running()).toEqual([])
  } finally {
    await other.close()
  }
})

test('where an autoscaler decides, a request is refused and says which', async () => {
  await scale(1)
  await running(1)
  cluster.autoscaled.push('worker')
  await expect(scale(3)).rejects.toThrow(
    /^The autoscaler keda-hpa-worker decides how many pods the Deployment worker has; change its bounds/,
  )
  expect(cluster.running()).toHaveLength(1)
})

test('outside of a cluster, and in a pod without a service account, the start says so', async () => {
  await expect(KubernetesApi.open()).rejects.toThrow(/KUBERNETES_SERVICE_HOST is not set.*docker or swarm/)
  await rm(join(cluster.folder, 'namespace'))
  await expect(KubernetesApi.open(cluster.url, cluster.folder)).rejects.toThrow(/finds no service account/)
})

test('each end unasked is told once with its cause, how often, and last lines; ends that were asked for are not', async () => {
  await scale(4)
  await running(4)
  const [crashed, full, killed, evicted] = cluster.running()
  // What was before this watch began was told by the one before it.
  await cluster.fault(crashed!, { exitCode: 9 }, 'long ago')
  await new Promise((resolve) => setTimeout(resolve, 2_100))
  const watch = watchPods(rig.services, api)
  await vi.waitUntil(() => cluster.asked.has('watch pods'))
  await cluster.fault(crashed!, { exitCode: 1 }, 'a\n\u001b[31mTypeError\u001b[0m: x\n')
  await cluster.fault(full!, { exitCode: 137, reason: 'OOMKilled' }, 'big page\n')
  await cluster.fault(killed!, { exitCode: 137 }, 'and it stood still\n')
  // While nobody watches, things go on.
  await vi.waitUntil(async () => (await told()).length === 3, 10_000)
  cluster.breakOff()
  cluster.events.push({
    uid: cluster.uid(killed!),
    reason: 'Killing',
    message: 'Container worker failed liveness probe, will be restarted',
  })
  await cluster.fault(killed!, { exitCode: 137 }, 'again\n')
  cluster.evict(evicted!, 'The node was low on resource: memory.')
  await vi.waitUntil(async () => (await told()).length === 5, 10_000)
  // Told to end, and killed when it took too long.
  cluster.impatient = true
  await scale(0)
  await vi.waitUntil(() => cluster.ended.length === 4, 20_000)
  await new Promise((resolve) => setTimeout(resolve, 500))
  await watch.stop()
  const line = (worker_id: string | undefined, kind: string, detail: string) => ({
    worker_id,
    queue,
    kind,
    detail,
  })
  const all = await told()
  expect(all.slice(0, 3)).toEqual([
    line(crashed, 'restart', 'exit code 1; restart 2 of this pod; last lines: a TypeError: x'),
    line(full, 'oom', 'out of memory (limit 768Mi); restart 1 of this pod; last lines: big page'),
    line(killed, 'oom', 'out of memory (limit 768Mi); restart 1 of this pod; last lines: and it stood still'),
  ])
  expect(all.slice(3)).toHaveLength(2)
  expect(all.slice(3)).toEqual(
    expect.arrayContaining([
      line(
        killed,
        'restart',
        'killed: Container worker failed liveness probe, will be restarted; restart 2 of this pod; last lines: again',
      ),
      line(evicted, 'restart', 'evicted: The node was low on resource: memory.'),
    ]),
  )
}, 60_000)

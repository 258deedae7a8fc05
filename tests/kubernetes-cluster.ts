import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { packageFile } from '../cli/package-file'
import type { Pod } from '../server/scaler/watch-pods'

const TOKEN = 'of-the-service-account'
const NAMESPACE = 'crawl'
const USER = `system:serviceaccount:${NAMESPACE}:scaler`

interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
}

/**
 * Stands in for a cluster where none can run: the part of the API server that the scaler uses, over TLS, with the answers, words and
 * list-and-watch protocol of Kubernetes, which lets in whoever has the token and allows what deploy/kubernetes gives the scaler and
 * nothing else; and behind it a Deployment whose pods are processes of this machine, told to end by SIGTERM.
 */
export class KubernetesCluster {
  readonly folder: string
  url = ''
  /** What may be done; a test may take some of it away. */
  rules: Rule[]
  /** Names of the Deployments that an autoscaler has. */
  readonly autoscaled: string[] = []
  readonly events: { uid: string; reason: string; message: string }[] = []
  /** Kills those that are told to end, as happens when their grace time is over. */
  impatient = false
  /** Requests as they were allowed: verb and resource. */
  readonly asked = new Set<string>()
  readonly ended: { pod: string; told: boolean; code: number | null }[] = []
  #replicas = 0
  #version = 1
  #pods = new Map<string, { pod: Pod; process: ChildProcess; log: string; previous: string }>()
  #changes: { version: number; line: string }[] = []
  #watches = new Set<ServerResponse>()
  #server

  private constructor(
    folder: string,
    rules: Rule[],
    tls: { key: Buffer; cert: Buffer },
    readonly queue: string,
  ) {
    this.folder = folder
    this.rules = rules
    this.#server = createServer(tls, (request, response) => void this.#answer(request, response))
  }

  static async start(queue: string): Promise<KubernetesCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'orbweaver-cluster-'))
    const [key, cert] = ['key.pem', 'ca.crt'].map((name) => join(folder, name)) as [string, string]
    const made =
      '-x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=kubernetes -addext subjectAltName=IP:127.0.0.1'
    execFileSync('openssl', ['req', ...made.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' })
    await writeFile(join(folder, 'token'), `${TOKEN}\n`)
    await writeFile(join(folder, 'namespace'), NAMESPACE)
    const manifests = await readFile(packageFile('deploy/kubernetes/base/scaler.yaml'), 'utf8')
    const role = parseAllDocuments(manifests)
      .map((one) => one.toJS() as { kind: string; rules: Rule[] })
      .find(({ kind }) => kind === 'Role')!
    const tls = { key: await readFile(key), cert: await readFile(cert) }
    const cluster = new KubernetesCluster(folder, role.rules, tls, queue)
    await new Promise<void>((resolve) => cluster.#server.listen(0, '127.0.0.1', resolve))
    cluster.url = `https://127.0.0.1:${(cluster.#server.address() as AddressInfo).port}`
    return cluster
  }

  /** Names of pods that run and were not told to end. */
  running(): string[] {
    return [...this.#pods.values()]
      .filter(({ pod }) => !pod.metadata.deletionTimestamp && pod.status.phase === 'Running')
      .map(({ pod }) => pod.metadata.name)
  }

  /** Ends the container of a pod, as a fault in it would; Kubernetes starts it again in its place. */
  async fault(name: string, end: { exitCode: number; reason?: string }, lines: string): Promise<void> {
    const one = this.#pods.get(name)!
    const terminated = {
      containerID: `containerd://${randomUUID()}`,
      reason: 'Error',
      ...end,
      finishedAt: `${new Date().toISOString().slice(0, 19)}Z`,
    }
    const [status] = one.pod.status.containerStatuses!
    one.previous = lines
    status!.restartCount++
    status!.lastState = { terminated }
    status!.state = { waiting: { reason: 'CrashLoopBackOff' } }
    this.#tell('MODIFIED', one.pod)
    status!.state = {}
    this.#tell('MODIFIED', one.pod)
  }

  evict(name: string, message: string): void {
    const { pod } = this.#pods.get(name)!
    Object.assign(pod.status, { phase: 'Failed', reason: 'Evicted', message })
    this.#tell('MODIFIED', pod)
  }

  uid = (name: string) => this.#pods.get(name)!.pod.metadata.uid

  /** Breaks all watches off; what happens meanwhile is only in the next list. */
  breakOff(): void {
    for (const watch of this.#watches) watch.destroy()
    this.#watches.clear()
  }

  async close(): Promise<void> {
    this.#scale(0)
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    await rm(this.folder, { recursive: true, force: true })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, this.url)
    const found =
      /^\/(?:api|apis\/([\w.]+))\/\w+\/namespaces\/([\w-]+)\/(\w+)(?:\/([\w-]+))?(?:\/(\w+))?$/.exec(
        url.pathname,
      )
    const [, group = '', namespace, kind = '', name, sub] = found ?? []
    const resource = sub ? `${kind}/${sub}` : kind
    const watching = url.searchParams.has('watch')
    const verb = request.method === 'PATCH' ? 'patch' : watching ? 'watch' : name ? 'get' : 'list'
    if (request.headers.authorization !== `Bearer ${TOKEN}`)
      return refuse(response, 401, 'Unauthorized', 'Unauthorized')
    const allowed = this.rules.some(
      (rule) =>
        rule.apiGroups.includes(group) && rule.resources.includes(resource) && rule.verbs.includes(verb),
    )
    if (!allowed || namespace !== NAMESPACE)
      return refuse(
        response,
        403,
        'Forbidden',
        `${kind}${group && `.${group}`}${name ? ` "${name}"` : ''} is forbidden: User "${USER}" cannot ${verb} resource "${resource}" in API group "${group}" in the namespace "${namespace}"`,
      )
    this.asked.add(`${verb} ${resource}`)
    const selected = url.searchParams.get('labelSelector') ?? ''
    const matches = ['', 'orbweaver.workers', 'orbweaver.workers=http'].includes(selected)
    const list = (items: unknown[]) =>
      json(response, 200, { kind: 'List', metadata: { resourceVersion: String(this.#version) }, items })
    if (verb === 'watch') return this.#watch(response, Number(url.searchParams.get('resourceVersion')))
    if (resource === 'deployments') return list(matches ? [this.#deployment()] : [])
    if (resource === 'horizontalpodautoscalers')
      return list(
        this.autoscaled.map((target) => ({
          metadata: { name: `keda-hpa-${target}` },
          spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: target } },
        })),
      )
    if (resource === 'pods') return list([...this.#pods.values()].map(({ pod }) => pod))
    if (resource === 'events') {
      const fields = url.searchParams.get('fieldSelector')!
      const those = this.events.filter(
        ({ uid, reason }) => fields === `involvedObject.uid=${uid},reason=${reason}`,
      )
      return list(those)
    }
    if (resource === 'pods/log') {
      const one = this.#pods.get(name!)
      const previous = url.searchParams.get('previous') === 'true'
      return void response.end(previous ? one?.previous : one?.log)
    }
    if (resource !== 'deployments/scale' || name !== 'worker')
      return refuse(response, 404, 'NotFound', `${kind}.${group} "${name}" not found`)
    if (request.headers['content-type'] !== 'application/merge-patch+json')
      return refuse(response, 415, 'UnsupportedMediaType', 'the body of the request was in an unknown format')
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    this.#scale(body.spec.replicas)
    json(response, 200, { kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: this.#replicas } })
  }

  #deployment() {
    const env = [
      { name: 'REDIS_PASSWORD', valueFrom: {} },
      { name: 'QUEUE_KEY', value: this.queue },
    ]
    return {
      metadata: { name: 'worker' },
      spec: { replicas: this.#replicas, template: { spec: { containers: [{ name: 'worker', env }] } } },
    }
  }

  #scale(replicas: number): void {
    this.#replicas = replicas
    const live = [...this.#pods.values()].filter(({ pod }) => !pod.metadata.deletionTimestamp)
    for (const { pod, process } of live.slice(replicas)) {
      pod.metadata.deletionTimestamp = new Date().toISOString()
      this.#tell('MODIFIED', pod)
      process.kill(this.impatient ? 'SIGKILL' : 'SIGTERM')
    }
    for (let n = live.length; n < replicas; n++) this.#run()
  }

  #run(): void {
    const name = `worker-${randomUUID().slice(0, 8)}`
    // Holds something for a moment when it is told to end, as a worker holds a page.
    const script =
      "process.on('SIGTERM', () => setTimeout(() => process.exit(0), 200)); setInterval(() => {}, 1000); console.log('up')"
    const process = spawn('node', ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] })
    const pod: Pod = {
      metadata: { name, uid: randomUUID(), resourceVersion: '' },
      spec: {
        containers: [
          {
            name: 'worker',
            env: [{ name: 'QUEUE_KEY', value: this.queue }],
            resources: { limits: { memory: '768Mi' } },
          },
        ],
      },
      status: {
        phase: 'Pending',
        containerStatuses: [{ name: 'worker', restartCount: 0, state: {}, lastState: {} }],
      },
    }
    this.#pods.set(name, { pod, process, log: 'alive\n', previous: '' })
    this.#tell('ADDED', pod)
    process.stdout.once('data', () => {
      pod.status.phase = 'Running'
      this.#tell('MODIFIED', pod)
    })
    process.once('exit', (code) => {
      const told = pod.metadata.deletionTimestamp !== undefined
      this.ended.push({ pod: name, told, code })
      const finishedAt = `${new Date().toISOString().slice(0, 19)}Z`
      pod.status.containerStatuses![0]!.state = {
        terminated: { containerID: `containerd://${randomUUID()}`, exitCode: code ?? 137, finishedAt },
      }
      this.#tell('MODIFIED', pod)
      this.#pods.delete(name)
      this.#tell('DELETED', pod)
    })
  }

  #tell(type: 'ADDED' | 'MODIFIED' | 'DELETED', pod: Pod): void {
    pod.metadata.resourceVersion = String(++this.#version)
    const line = `${JSON.stringify({ type, object: pod })}\n`
    this.#changes.push({ version: this.#version, line })
    for (const watch of this.#watches) watch.write(line)
  }

  #watch(response: ServerResponse, version: number): void {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
    for (const change of this.#changes) if (change.version > version) response.write(change.line)
    this.#watches.add(response)
    response.once('close', () => this.#watches.delete(response))
  }
}

function json(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function refuse(response: ServerResponse, code: number, reason: string, message: string): void {
  json(response, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, code })
}

import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { packageFile } from '../cli/package-file'
import { envTable } from '../core/env'
import { kubernetesTool } from './kubernetes-tools'

/** What deploy/kubernetes says, rendered by Kustomize and Helm themselves. Nothing here needs a cluster. */
const exec = promisify(execFile)
const FOLDER = packageFile('deploy/kubernetes')

interface Container {
  name: string
  env?: { name: string }[]
  resources: { limits: { memory: string } }
  securityContext: unknown
  livenessProbe?: unknown
}
interface PodSpec {
  containers: Container[]
  volumes?: Record<string, unknown>[]
  securityContext: Record<string, unknown>
  serviceAccountName?: string
  automountServiceAccountToken?: boolean
  enableServiceLinks?: boolean
}
interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string }
  spec?: { template?: { spec: PodSpec } }
  data?: Record<string, string>
}

let base: Manifest[]
let whole: Manifest[]
let chart: Manifest[]
let chartWhole: Manifest[]
let missing = ''

const read = (text: string) =>
  parseAllDocuments(text).flatMap((one) => (one.contents ? [one.toJS() as Manifest] : []))

beforeAll(async () => {
  const [kubectl, helm] = await Promise.all([kubernetesTool('kubectl'), kubernetesTool('helm')])
  if (typeof kubectl === 'string' || typeof helm === 'string') {
    missing = typeof kubectl === 'string' ? kubectl : String(helm)
    return
  }
  const build = async (folder: string) => read(await kubectl('kustomize', folder))
  const template = async (...more: string[]) =>
    read(await helm('template', 'orbweaver', join(FOLDER, 'chart'), '--namespace', 'orbweaver', ...more))
  const folder = await mkdtemp(join(tmpdir(), 'orbweaver-kustomize-'))
  try {
    await exec('cp', ['-r', FOLDER, join(folder, 'copy')])
    await writeFile(
      join(folder, 'kustomization.yaml'),
      'resources: [copy/base]\ncomponents: [copy/keda, copy/external-servers]\n',
    )
    ;[base, whole, chart, chartWhole] = await Promise.all([
      build(join(FOLDER, 'base')),
      build(folder),
      template(),
      template('--set', 'keda.enabled=true,redis.enabled=false,mysql.enabled=false,images.prefix=r.example/'),
    ])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}, 180_000)

const key = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`
const sorted = (all: Manifest[]) => all.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
const pods = (all: Manifest[]) =>
  all.flatMap((one) => (one.spec?.template ? [{ name: one.metadata.name, pod: one.spec.template.spec }] : []))

test('the chart with its defaults and the Kustomize base are the same objects', (context) => {
  if (missing) context.skip(missing)
  const bare = (all: Manifest[]) =>
    sorted(all).map(({ metadata: { namespace: _, ...metadata }, ...rest }) => ({ ...rest, metadata }))
  // A Job can't be changed, so each release of the chart has one of its own.
  const renamed = JSON.parse(JSON.stringify(chart).replaceAll('migrate-1', 'migrate')) as Manifest[]
  expect(bare(renamed)).toEqual(bare(base))
})

test('with KEDA and with servers of their own both leave Redis and MySQL away, and workers go by backlog', (context) => {
  if (missing) context.skip(missing)
  for (const all of [whole, chartWhole]) {
    const keys = all.map(key)
    expect(keys).toEqual(
      expect.arrayContaining(['ScaledObject worker', 'TriggerAuthentication orbweaver-mysql']),
    )
    expect(keys.filter((one) => /^(StatefulSet|Service) (redis|mysql)$/.test(one))).toEqual([])
  }
  expect(JSON.stringify(chartWhole)).toContain('"r.example/orbweaver-worker:latest"')
})

/** Package with the schemas of a group, and the object's class in it. */
const schemaOf = ({ apiVersion }: Manifest) =>
  apiVersion.startsWith('keda.sh/')
    ? `@kubernetes-models/keda/${apiVersion}`
    : `kubernetes-models/${apiVersion}`

test('every object fits the schema of its kind, and has no field that the schema does not know', async (context) => {
  if (missing) context.skip(missing)
  const all = [...base, ...whole, ...chart, ...chartWhole]
  expect(all.length).toBeGreaterThan(60)
  for (const one of all) {
    const models = (await import(schemaOf(one))) as Record<
      string,
      new (
        data: Manifest,
      ) => { validate(): void }
    >
    expect(() => new models[one.kind]!(one).validate(), key(one)).not.toThrow()
  }
  // The compiler refuses fields that an object's interface does not have, at any depth.
  const folder = await mkdtemp(packageFile('node_modules/.schemas-'))
  const lines = all.map(
    (one, n) =>
      `import type { I${one.kind} as K${n} } from '${schemaOf(one)}'\nexport const o${n}: K${n} = ${JSON.stringify(one)}`,
  )
  try {
    await writeFile(join(folder, 'objects.ts'), lines.join('\n'))
    const tsc = packageFile('node_modules/.bin/tsc')
    const flags = '--noEmit --ignoreConfig --strict --skipLibCheck --module nodenext --types node'.split(' ')
    const said = await exec(tsc, [...flags, join(folder, 'objects.ts')]).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    )
    expect(said).toBe('')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}, 120_000)

test('every pod keeps the restricted standard, has limits, and none but the scaler may speak to the cluster', (context) => {
  if (missing) context.skip(missing)
  expect(
    pods(base)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(['migrate', 'mysql', 'redis', 'scaler', 'scheduler', 'web', 'worker'].toSorted())
  for (const { name, pod } of pods([...base, ...chart])) {
    expect(pod.securityContext, name).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    expect(pod.enableServiceLinks, name).toBe(false)
    expect(pod.automountServiceAccountToken ?? true, name).toBe(name === 'scaler')
    for (const volume of pod.volumes ?? []) expect(volume).toEqual({ name: volume.name, emptyDir: {} })
    for (const container of pod.containers) {
      expect(container.securityContext, name).toMatchObject({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        // MySQL writes in several places of its image.
        ...(name !== 'mysql' && { readOnlyRootFilesystem: true }),
      })
      expect(container.resources.limits.memory, name).toMatch(/^\d+[MG]i$/)
    }
  }
})

test('memory limits are those of compose.yaml, and every variable is one that the programs read', async (context) => {
  if (missing) context.skip(missing)
  const { services } = parse(await readFile(packageFile('compose.yaml'), 'utf8'), { merge: true }) as {
    services: Record<string, { mem_limit: string }>
  }
  const mebibytes = (text: string) =>
    Number(/\d+/.exec(text.replace(/^.*:-/, ''))![0]) * (/G/.test(text) ? 1024 : 1)
  for (const { name, pod } of pods(base))
    for (const { resources, env } of pod.containers) {
      expect(mebibytes(resources.limits.memory), name).toBe(mebibytes(services[name]!.mem_limit))
      if (name === 'redis' || name === 'mysql') continue
      expect((env ?? []).map((one) => one.name).filter((one) => !(one in envTable))).toEqual([])
    }
  const settings = base.find(({ kind }) => kind === 'ConfigMap')!.data!
  expect(Object.keys(settings).filter((name) => !(name in envTable))).toEqual([])
})

test('no secret stands in any file', async () => {
  const files = (await readdir(FOLDER, { recursive: true })).filter((file) => file.endsWith('.yaml'))
  for (const file of files) {
    const text = await readFile(join(FOLDER, file), 'utf8')
    expect(text, file).not.toMatch(/kind: Secret\b/)
  }
})

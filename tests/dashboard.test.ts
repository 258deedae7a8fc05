import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parser } from '@prometheus-io/lezer-promql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { packageFile } from '../cli/package-file'
import { readMetrics } from '../server/api/metrics'
import { openServerRig, type ServerRig } from './server-rig'

/** What deploy/monitoring asks of /metrics, held against /metrics. */
const FOLDER = packageFile('deploy/monitoring')
const read = (name: string) => readFile(join(FOLDER, name), 'utf8')

let rig: ServerRig
/** Names of the labels of each metric. */
let metrics: Map<string, Set<string>>
let queries: { where: string; text: string }[]
beforeAll(async () => {
  rig = await openServerRig()
  // Something of everything, so that each metric has a line.
  await rig.rows(
    `INSERT INTO workers (id, kind, queue, hostname, pid, state, running, started_at, heartbeat_at)
       VALUES ('w', 'http', ?, 'h', 1, 'running', 3, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))`,
    [rig.queue],
  )
  const { text } = await readMetrics(rig.services)
  metrics = new Map()
  for (const [, name] of text.matchAll(/^# TYPE (\w+) /gm)) metrics.set(name!, new Set())
  for (const [, name, labels] of text.matchAll(/^(\w+)\{(.*)\} /gm))
    for (const [, label] of labels!.matchAll(/(\w+)="/g))
      (metrics.get(name!) ?? metrics.get(name!.replace(/_(bucket|sum|count)$/, '')))?.add(label!)
  // Has no line before a page has failed.
  metrics.get('orbweaver_failures_1h')?.add('reason')
  metrics.set('up', new Set(['job', 'instance']))
  const board = JSON.parse(await read('grafana/orbweaver.json')) as {
    panels: { title: string; targets: { expr: string }[] }[]
  }
  const { groups } = parse(await read('alerts.yaml')) as {
    groups: { rules: { alert: string; expr: string }[] }[]
  }
  queries = [
    ...board.panels.flatMap(({ title, targets }) =>
      targets.map(({ expr }) => ({ where: title, text: expr })),
    ),
    ...groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ where: alert, text: expr }))),
  ]
})
afterAll(() => rig.close())

test('every query of the dashboard and of the alerts can be read, and names metrics and labels that exist', () => {
  expect(queries.length).toBeGreaterThan(20)
  const faults: string[] = []
  for (const { where, text } of queries) {
    // Grafana puts a pattern in its place.
    const query = text.replaceAll('$queue', '.*')
    let metric = ''
    parser.parse(query).iterate({
      enter({ type, name, from, to }) {
        const word = query.slice(from, to)
        if (type.isError) faults.push(`${where}: cannot be read at ${from}: ${query}`)
        if (name === 'VectorSelector') metric = /^\w+/.exec(word)![0]
        if (name === 'VectorSelector' && !metrics.has(metric)) faults.push(`${where}: no metric ${metric}`)
        if (name === 'LabelName' && ![...metrics.values()].some((labels) => labels.has(word)))
          faults.push(`${where}: no label ${word}`)
        if (name === 'UnquotedLabelMatcher' && !metrics.get(metric)?.has(/^\w+/.exec(word)![0]))
          faults.push(`${where}: ${metric} has no label ${word}`)
      },
    })
  }
  expect(faults).toEqual([])
})

test('every metric of the crawl has its place on the dashboard or in an alert', () => {
  const asked = queries.map(({ text }) => text).join('\n')
  const ours = [...metrics.keys()].filter((name) => /^orbweaver_(?!web_)/.test(name))
  expect(ours.length).toBeGreaterThan(8)
  expect(ours.filter((name) => !asked.includes(name))).toEqual([])
})

test('what a value of a label is compared with is one that the programs write', async () => {
  const text = (await readMetrics(rig.services)).text
  const values = new Set([...text.matchAll(/="([^"]*)"/g)].map(([, value]) => value))
  for (const { where, text: query } of queries)
    for (const [, list] of query.matchAll(/(?:state|outcome|cause)=~?"([^"]+)"/g))
      for (const value of list!.split('|')) expect(values, where).toContain(value)
})

test('each file that the profile mounts is there, and its services are in no start without the profile', async () => {
  const { services } = parse(await readFile(packageFile('compose.yaml'), 'utf8'), { merge: true }) as {
    services: Record<string, { profiles?: string[]; volumes?: string[]; ports?: string[] }>
  }
  for (const name of ['prometheus', 'grafana']) {
    const { profiles, volumes } = services[name]!
    expect(profiles).toEqual(['monitoring'])
    for (const [from, , mode] of volumes!
      .map((line) => line.split(':'))
      .filter(([path]) => path!.startsWith('./'))) {
      expect(mode).toBe('ro')
      await expect(readFile(packageFile(from!))).resolves.toBeDefined()
    }
  }
  expect(services.prometheus!.ports).toBeUndefined()
  expect(services.grafana!.ports).toEqual([expect.stringMatching(/^\$\{HTTP_BIND:-127\.0\.0\.1\}:/)])
})

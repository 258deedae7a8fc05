import { existsSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { auditRun } from '../server/services/audit-run'
import { type CrawlRig, openRig } from './crawl-rig'
import { type StaticSite, serveFolder } from './static-site'
import { walk } from './walk'

const MANUAL = '/usr/share/doc/postgresql-doc-15/html'

let rig: CrawlRig | undefined
let site: StaticSite | undefined
afterEach(async () => {
  await rig?.close()
  await site?.close()
})

test('a real manual is stored exactly as an independent walk of its links finds it', async (context) => {
  if (!existsSync(MANUAL)) context.skip(`${MANUAL} is not there; apt-get install postgresql-doc-15 brings it`)
  site = await serveFolder(MANUAL)
  rig = await openRig()
  rig.workers(2)
  const run = await rig.run(`${site.url}index.html`)
  await rig.ended(run)
  const oracle = await walk(`${site.url}index.html`)
  const stored = await rig.stored(run)
  const done = [...stored].filter(([, state]) => state === 'done').map(([url]) => url)
  expect(done.toSorted()).toEqual([...oracle.ok].toSorted())
  expect((await auditRun(rig.services, run)).checks.filter((check) => !check.ok)).toEqual([])
}, 150_000)

import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { createRun } from './runs'
import { deleteSeeds, enableSeeds, listSeeds } from './seed-list'
import { importSeeds } from './seeds'
import { saveSpider } from './spiders'

let rig: ServerRig
beforeAll(async () => {
  rig = await openServerRig()
})
afterAll(() => rig.close())

async function spiderWith(name: string, lines: string[]): Promise<number> {
  const { id } = await saveSpider(rig.services, { name }, 'test')
  await importSeeds(rig.services, {
    spider: id,
    fileName: 'f',
    stream: (async function* () {
      yield Buffer.from(lines.join('\n'))
    })(),
    actor: 'test',
  })
  return id
}

test('a search that runs out of time says where to go on, and going on finds all there is, once', async () => {
  const lines = Array.from(
    { length: 25_000 },
    (_, n) => `https://a.test/${n % 1000 === 0 ? 'rare' : 'x'}/${n}`,
  )
  const spider = await spiderWith('searched', lines)
  await spiderWith('other', ['https://a.test/rare/other'])
  const found: string[] = []
  let pages = 0
  for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null; pages++) {
    const page = await listSeeds(rig.services, { spider, search: '/rare/', before, limit: 7 }, 0)
    found.push(...page.seeds.map(({ url }) => url))
    expect(page.seeds.length).toBeLessThanOrEqual(7)
    before = page.next
  }
  expect(pages).toBeGreaterThan(3)
  expect(found.toSorted()).toEqual(lines.filter((line) => line.includes('rare')).toSorted())
})

test('what a pattern would take for a sign of its own is searched as it stands', async () => {
  const spider = await spiderWith('signs', [
    'https://a.test/50%25off',
    'https://a.test/a_b',
    'https://a.test/axb',
  ])
  const urls = async (search: string) =>
    (await listSeeds(rig.services, { spider, search, limit: 9 })).seeds.map(({ url }) => url)
  expect(await urls('a_b')).toEqual(['https://a.test/a_b'])
  expect(await urls('%25')).toEqual(['https://a.test/50%25off'])
  expect(await urls('\\')).toEqual([])
})

test('seeds are changed for their own spider alone, and each change is in the audit log', async () => {
  const mine = await spiderWith('mine', ['https://a.test/1', 'https://a.test/2'])
  const other = await spiderWith('others', ['https://a.test/3'])
  const [theirs] = (await listSeeds(rig.services, { spider: other, limit: 1 })).seeds
  const ids = (await listSeeds(rig.services, { spider: mine, limit: 9 })).seeds.map(({ id }) => id)
  expect(await deleteSeeds(rig.services, { spider: mine, ids: [theirs!.id] }, 'lin')).toBe(0)
  expect(await enableSeeds(rig.services, { spider: mine, ids, enabled: false }, 'lin')).toBe(2)
  expect(await enableSeeds(rig.services, { spider: mine, ids, enabled: false }, 'lin')).toBe(0)
  expect(await deleteSeeds(rig.services, { spider: mine, ids: ids.slice(1) }, 'lin')).toBe(1)
  expect(
    await rig.rows("SELECT action, subject, detail FROM audit_log WHERE actor = 'lin' ORDER BY id"),
  ).toEqual([
    { action: 'seeds.disable', subject: 'mine', detail: '{"seeds":2}' },
    { action: 'seeds.delete', subject: 'mine', detail: '{"seeds":1}' },
  ])
})

test('a seed that is enabled again is missed by no run that began before', async () => {
  const spider = await spiderWith('again', ['https://a.test/1', 'https://a.test/2'])
  const [first] = (await listSeeds(rig.services, { spider, limit: 1 })).seeds
  await enableSeeds(rig.services, { spider, ids: [first!.id], enabled: false }, 'lin')
  const { id } = await createRun(rig.services, { spider, queue: rig.queue, trigger: 'manual' })
  await enableSeeds(rig.services, { spider, ids: [first!.id], enabled: true }, 'lin')
  const [since] = await rig.rows<{ late: number }>(
    'SELECT COALESCE(imports.finished_at, seeds.created_at) >= (SELECT created_at FROM runs WHERE id = ?) AS late FROM seeds LEFT JOIN imports ON imports.id = import_id WHERE seeds.id = ?',
    [id, first!.id],
  )
  expect(since!.late).toBe(1)
})

import { describe, expect, test } from 'vitest'
import { consoleRig } from './console-rig'

describe('what watches the console from outside', () => {
  const rig = consoleRig()
  const get = (path: string, headers: Record<string, string> = {}) => fetch(rig.address + path, { headers })

  test('asks whether it lives and whether it can serve', async () => {
    expect(await (await get('/healthz')).json()).toEqual({ live: true })
    const ready = await get('/readyz')
    expect(ready.status).toBe(200)
    expect(await ready.json()).toEqual({ ready: true, redis: true, database: true, tables: true })
  })

  test('is told when the tables are missing, while the process lives', async () => {
    const { pool } = rig.services.database
    await pool.query('RENAME TABLE runs TO runs_away')
    try {
      const ready = await get('/readyz')
      expect(ready.status).toBe(503)
      expect(await ready.json()).toEqual({ ready: false, redis: true, database: true, tables: false })
      expect((await get('/healthz')).status).toBe(200)
    } finally {
      await pool.query('RENAME TABLE runs_away TO runs')
    }
  })

  test('reads no metrics without permission, whatever address it claims to have', async () => {
    const denied = await get('/metrics')
    expect(denied.status).toBe(401)
    expect(await denied.text()).not.toContain('orbweaver_')

    await rig.endWeb('SIGKILL')
    rig.env.METRICS_NETWORKS = '10.0.0.0/8'
    rig.env.METRICS_TOKEN = 'of-this-test-run-only-0123456789abcdef'
    await rig.startWeb()
    expect((await get('/metrics', { 'x-forwarded-for': '10.1.1.1' })).status).toBe(401)
    const told = await get('/metrics', { authorization: `Bearer ${rig.env.METRICS_TOKEN}` })
    expect(told.status).toBe(200)
    expect(told.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(await told.text()).toContain(`orbweaver_queue_length{queue="${rig.queue}",state="inbox"} 0`)
  })

  test('pages keep their content security policy, also those whose names begin alike', async () => {
    for (const path of ['/sign-in', '/metricsx', '/healthz-of-mine'])
      expect((await get(path)).headers.get('content-security-policy')).toContain("default-src 'self'")
    expect((await get('/healthz')).headers.get('content-security-policy')).toBeNull()
  })
})

import { expect, test } from 'vitest'
import { parseRobots } from './robots'
import { agent, cases } from './robots-cases.json'

test.each(cases)('RFC 9309 §$rfc: $path against $robots', ({ robots, path, allowed, line }) => {
  const said = parseRobots(robots, agent)
  const url = `https://h.example${path}`
  expect([said.allows(url), said.decidingLine(url)?.number ?? null]).toEqual([allowed, line])
})

import type { PoolConnection } from 'mysql2/promise'
import { inTransaction } from '../../drizzle/database'
import type { Services } from '../context'
import { change, select } from '../db'
import { nextStep } from './alert-life'
import { announce } from './announce'
import { type Finding, isWrong } from './rule'
import type { SetRule } from './rule-settings'
import { RULES } from './rules'

/** Subjects that one rule may tell of at once, worst first: a message each, and nobody reads more. */
const SUBJECTS = 50

interface OpenRow {
  id: number
  subject: string
  state: 'pending' | 'firing'
  startedAt: Date
  calmSince: Date | null
  told: number
}

/**
 * Looks once at what a rule watches, and takes each of its alerts a step on. Of schedulers that do so at once each finds the
 * rows locked or decided: an alert opens, fires and ends once, and each of that is written together with its messages.
 * @param at the instant of the look, by the database's clock.
 */
export async function evaluateRule(s: Services, rule: SetRule, at: Date): Promise<void> {
  const definition = RULES[rule.kind]
  const found = rule.enabled ? await definition.look(s, at, rule) : []
  const worst = definition.wrong === 'below' ? 1 : -1
  const wrong = found
    .filter(({ figure }) => isWrong(definition, figure, rule.threshold))
    .sort((a, b) => worst * (a.figure - b.figure))
  await inTransaction(s.database.pool, async (connection) => {
    const open = await select<OpenRow>(
      connection,
      "SELECT id, subject, state, started_at AS startedAt, calm_since AS calmSince, told FROM alerts WHERE rule = ? AND state IN ('pending', 'firing') FOR UPDATE",
      [rule.kind],
    )
    // What fires already is judged by itself: that others became worse does not end it.
    const subjects = new Set(
      [...open, ...wrong.slice(0, SUBJECTS)].map(({ subject }) => subject.slice(0, 191)),
    )
    for (const subject of subjects)
      await takeStep(connection, rule, at, {
        subject,
        open: open.find((one) => one.subject === subject) ?? null,
        wrong: wrong.find((one) => one.subject.slice(0, 191) === subject) ?? null,
        now: found.find((one) => one.subject.slice(0, 191) === subject) ?? null,
      })
  })
}

interface Subject {
  subject: string
  open: OpenRow | null
  wrong: Finding | null
  now: Finding | null
}

async function takeStep(on: PoolConnection, rule: SetRule, at: Date, about: Subject): Promise<void> {
  const { subject, open, wrong, now } = about
  const silent = rule.silentUntil !== null && rule.silentUntil > at
  // A rule that is switched off ends what it had to tell, without a word.
  if (!rule.enabled) {
    if (open?.state === 'firing') await end(on, open.id, at)
    if (open?.state === 'pending') await change(on, 'DELETE FROM alerts WHERE id = ?', [open.id])
    return
  }
  switch (nextStep(open, wrong !== null, rule.holdMinutes, at)) {
    case 'none':
      return
    case 'open':
      await insert(on, rule, subject, wrong!, 'pending', at)
      return
    case 'drop':
      await change(on, 'DELETE FROM alerts WHERE id = ?', [open!.id])
      return
    case 'fire': {
      const id = open?.id ?? (await insert(on, rule, subject, wrong!, 'firing', at))
      // Another scheduler opened it between our look and now.
      if (id === null) return
      await refresh(on, id, wrong!, rule)
      await change(on, "UPDATE alerts SET state = 'firing', fired_at = ? WHERE id = ?", [at, id])
      if (!silent) await tell(on, id, rule)
      return
    }
    case 'keep':
      await refresh(on, open!.id, wrong!, rule)
      if (open!.calmSince) await change(on, 'UPDATE alerts SET calm_since = NULL WHERE id = ?', [open!.id])
      // The silence ended before the trouble did.
      if (open!.state === 'firing' && !open!.told && !silent) await tell(on, open!.id, rule)
      return
    case 'calm':
      if (now) await refresh(on, open!.id, now, rule)
      if (!open!.calmSince) await change(on, 'UPDATE alerts SET calm_since = ? WHERE id = ?', [at, open!.id])
      return
    case 'resolve':
      if (now) await refresh(on, open!.id, now, rule)
      await end(on, open!.id, at)
      // Whoever was told that it began is told that it is over, silence or not.
      if (open!.told) await announce(on, open!.id, 'resolved', rule.channels)
      return
  }
}

/** @returns null when there is such an alert already. */
async function insert(
  on: PoolConnection,
  rule: SetRule,
  subject: string,
  { figure, facts }: Finding,
  state: 'pending' | 'firing',
  at: Date,
): Promise<number | null> {
  const { affectedRows, insertId } = await change(
    on,
    'INSERT IGNORE INTO alerts (rule, subject, open_key, state, figure, threshold, window_minutes, facts, started_at, told) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, false)',
    [
      rule.kind,
      subject,
      `${rule.kind} ${subject}`,
      state,
      figure,
      rule.threshold,
      rule.windowMinutes,
      JSON.stringify(facts),
      at,
    ],
  )
  return affectedRows === 1 ? insertId : null
}

async function refresh(
  on: PoolConnection,
  id: number,
  { figure, facts }: Finding,
  rule: SetRule,
): Promise<void> {
  await change(
    on,
    'UPDATE alerts SET figure = ?, facts = ?, threshold = ?, window_minutes = ? WHERE id = ?',
    [figure, JSON.stringify(facts), rule.threshold, rule.windowMinutes, id],
  )
}

async function end(on: PoolConnection, id: number, at: Date): Promise<void> {
  await change(on, "UPDATE alerts SET state = 'resolved', open_key = NULL, ended_at = ? WHERE id = ?", [
    at,
    id,
  ])
}

async function tell(on: PoolConnection, id: number, rule: SetRule): Promise<void> {
  await change(on, 'UPDATE alerts SET told = true WHERE id = ?', [id])
  await announce(on, id, 'firing', rule.channels)
}

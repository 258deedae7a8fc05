import { change, type Sql } from '../db'

/** Who asks for a change: a user's e-mail address, an API key, or the name of a process such as `cli` or `scheduler`. */
export type Actor = string

/** Everything that is written down as a change; a list can be asked for one of them. */
export const ACTIONS = [
  'alert.channel',
  'alert.channel.delete',
  'alert.channel.test',
  'alert.replay',
  'alert.rule',
  'alert.silence',
  'key.create',
  'key.revoke',
  'person.backup-code',
  'person.backup-codes',
  'person.disable',
  'person.enable',
  'person.invite',
  'person.password',
  'person.remove',
  'person.reset',
  'person.role',
  'person.second-factor',
  'person.second-factor.require',
  'person.second-factor.reset',
  'person.sign-in-link',
  'person.sign-out',
  'person.sign-up',
  'queue.configure',
  'queue.drain',
  'queue.enqueue',
  'queue.host-delay',
  'queue.pause',
  'queue.proxies.add',
  'queue.proxies.remove',
  'queue.purge',
  'queue.resume',
  'run.cancel',
  'run.redrive',
  'run.redriven',
  'run.start',
  'scale.limits',
  'scale.request',
  'schedule.create',
  'schedule.delete',
  'schedule.disable',
  'schedule.enable',
  'schedule.run',
  'schedule.update',
  'seeds.add',
  'seeds.delete',
  'seeds.disable',
  'seeds.enable',
  'seeds.import',
  'sink.replay',
  'spider.create',
  'spider.credentials',
  'spider.credentials.remove',
  'spider.update',
  'tryout.fetch',
] as const
export type Action = (typeof ACTIONS)[number]

/** Writes down who changed what. Call it on the connection of the change itself, so that neither stands without the other. */
export async function recordChange(
  on: Sql,
  actor: Actor,
  action: Action,
  subject: string | number,
  detail: unknown = null,
): Promise<void> {
  await change(
    on,
    'INSERT INTO audit_log (at, actor, action, subject, detail) VALUES (UTC_TIMESTAMP(3), ?, ?, ?, ?)',
    [actor.slice(0, 191), action, String(subject).slice(0, 191), JSON.stringify(detail)],
  )
}

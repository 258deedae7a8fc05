import { once } from 'node:events'
import { readFile, stat } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { userInfo } from 'node:os'
import { sentence } from '../core/errors'
import { type Finding, fail, ok, warn } from './finding'

interface Account {
  name: string
  /** Numbers of the groups that this process has. */
  groups: number[]
  groupFile: string
}

/**
 * Whether this user may speak to the Docker engine; and if not, whether for want of a group, or because the group is newer than
 * the session: a process has the groups that were read at sign-in, whatever the system's list says since.
 * @param host as in DOCKER_HOST; only a socket has an owner.
 */
export async function dockerSocket(host: string, account: Account = myself()): Promise<Finding> {
  const path = /^unix:\/\/(.+)$/.exec(host)?.[1]
  if (!path) return ok(`the engine at ${host} is reached over the network`)
  const found = await stat(path).catch(() => undefined)
  if (!found) return ok('no Docker engine on this machine; only containers need one')
  const fault = await connecting(path)
  if (!fault) return ok(`the engine at ${path} lets this user in`)
  if (fault.code !== 'EACCES')
    return warn(`No Docker engine answers at ${path} (${sentence(fault)}); start it if you use containers.`)
  const { name } = account
  const group = groupOf(await readFile(account.groupFile, 'utf8').catch(() => ''), found.gid)
  const refused = `Permission denied on the Docker socket ${path}`
  if (group.members.includes(name) && !account.groups.includes(found.gid))
    return fail(
      `${refused}: ${name} was added to the group ${group.name} after signing in, and groups are read at sign-in only; sign out and in again, or run newgrp ${group.name} for this terminal.`,
    )
  return fail(
    `${refused}: ${name} is not in its group, ${group.name}; run sudo usermod -aG ${group.name} ${name}, then sign out and in again, because groups are read at sign-in only.`,
  )
}

function myself(): Account {
  return {
    name: userInfo().username,
    groups: [...(process.getgroups?.() ?? []), process.getegid?.() ?? -1],
    groupFile: '/etc/group',
  }
}

async function connecting(path: string): Promise<NodeJS.ErrnoException | undefined> {
  const socket = createConnection({ path, timeout: 5_000 })
  try {
    await once(socket, 'connect')
    return undefined
  } catch (error) {
    return error as NodeJS.ErrnoException
  } finally {
    socket.destroy()
  }
}

/** A line of it: `docker:x:998:alice,bob`. */
function groupOf(text: string, gid: number): { name: string; members: string[] } {
  const line = text.split('\n').find((one) => one.split(':')[2] === String(gid))
  const [name = String(gid), , , members = ''] = line?.split(':') ?? []
  return { name, members: members.split(',') }
}

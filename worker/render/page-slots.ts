import { readFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { UserError } from '../../core/errors'

/** What a page may come to, in MB: its renderer process with a heavy page in it. */
const PAGE_MB = 500
/** Kept for the browser's own processes and for this one, in MB. */
const BROWSER_MB = 1024

/**
 * How many pages may be rendered at once within a memory limit: 4096 MB have room for 6.
 * @param asked RENDER_PAGES, when it is given.
 * @throws UserError when not one page has room, or not as many as were asked for.
 */
export function pageSlots(limitMb: number, asked?: number): number {
  const room = Math.floor((limitMb - BROWSER_MB) / PAGE_MB)
  const needed = (pages: number) => BROWSER_MB + pages * PAGE_MB
  if (room < 1)
    throw new UserError(
      `A memory limit of ${limitMb} MB has no room to render pages: the browser takes ${BROWSER_MB} MB and a page ${PAGE_MB} MB; raise the container's limit (or RENDER_MEMORY_MB) to ${needed(1)} MB or more.`,
    )
  if (asked !== undefined && asked > room)
    throw new UserError(
      `RENDER_PAGES is ${asked}, but a memory limit of ${limitMb} MB has room for ${room} (${BROWSER_MB} MB for the browser and ${PAGE_MB} MB for each page); lower it, or raise the limit to ${needed(asked)} MB.`,
    )
  return asked ?? room
}

/** What the kernel allows this container, or else what the machine has, in MB. */
export async function memoryLimitMb(): Promise<number> {
  const machine = totalmem()
  for (const file of ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes']) {
    const bytes = Number(await readFile(file, 'utf8').catch(() => ''))
    // Without a limit the file says `max`, or a number beyond any machine.
    if (bytes > 0 && bytes < machine) return Math.floor(bytes / 2 ** 20)
  }
  return Math.floor(machine / 2 ** 20)
}

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * One starter or stopper of a folder at a time. The lock is a listening socket, because the kernel frees that
 * whatever happens to its holder: a lock file would outlive a SIGKILL.
 *
 * Plain JavaScript, because the bootstrap needs it before anything is installed or built.
 *
 * @param {string} folder
 * @param {() => void} waiting called once when another holds the lock
 * @returns {Promise<() => Promise<void>>} the function that frees it
 */
export async function lockFolder(folder, waiting) {
  const name = `orbweaver-${createHash('sha256').update(folder).digest('hex').slice(0, 32)}`
  // Linux has sockets without a file; elsewhere a file is left behind by a crash and removed by the next starter.
  const path = process.platform === 'linux' ? `\0${name}` : join(tmpdir(), `${name}.lock`)
  for (let told = false; ; ) {
    const server = createServer((socket) => socket.destroy())
    try {
      server.listen(path)
      await once(server, 'listening')
      server.unref()
      return async () => {
        server.close()
        await once(server, 'close')
      }
    } catch (error) {
      if (error.code !== 'EADDRINUSE') throw error
    }
    if (!path.startsWith('\0') && !(await answers(path))) await rm(path, { force: true })
    if (!told) waiting()
    told = true
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function answers(path) {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

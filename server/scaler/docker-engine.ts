import { stripVTControlCharacters } from 'node:util'
import { type Dispatcher, Pool } from 'undici'
import { Unavailable, UserError } from '../../core/errors'

/** What `GET /containers/{id}/json` tells, as far as it is used here. */
export interface Container {
  Id: string
  Name: string
  /** Id of the image it was made from. */
  Image: string
  State: { Running: boolean; Restarting: boolean; OOMKilled: boolean }
  Config: {
    Image: string
    Hostname?: string
    Env: string[] | null
    Labels: Record<string, string>
  } & Record<string, unknown>
  HostConfig: { Memory: number } & Record<string, unknown>
  NetworkSettings: { Networks: Record<string, { Aliases: string[] | null }> }
}

export interface EngineEvent {
  Action: string
  Actor: { ID: string; Attributes: Record<string, string> }
  timeNano: number
}

/** Longest wait for an answer. Stopping a container is answered when it has ended, so it may be long. */
const ANSWER_MS = 180_000

/** A Docker engine, through its API (https://docs.docker.com/reference/api/engine/), unversioned: what is asked here is in all of them. */
export class Engine {
  #pool: Pool

  /** @param host as in DOCKER_HOST: `unix:///var/run/docker.sock`, or `tcp://proxy:2375`. */
  constructor(readonly host: string) {
    const socketPath = /^unix:\/\/(.+)$/.exec(host)?.[1]
    this.#pool = new Pool(socketPath ? 'http://docker' : host.replace(/^tcp:/, 'http:'), {
      headersTimeout: ANSWER_MS,
      connect: { timeout: 5_000, ...(socketPath && { socketPath }) },
    })
  }

  /** @returns what is there, undefined when it is not (any more). @throws as `call`. */
  async look<T>(path: string): Promise<T | undefined> {
    const answer = await this.#ask({ method: 'GET', path })
    if (answer.statusCode !== 404) return read('GET', path, answer)
    await answer.body.dump()
    return undefined
  }

  /**
   * @returns what the engine answers, undefined for no content.
   * @throws Unavailable when it does not answer, UserError with the engine's words for everything it refuses.
   */
  async call<T>(method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<T> {
    return read(
      method,
      path,
      await this.#ask({ method, path, ...(body !== undefined && { body: JSON.stringify(body) }) }),
    )
  }

  /** The last lines of what a container wrote, without colours and control characters. */
  async lastLines(id: string, lines: number): Promise<string> {
    const answer = await this.#ask({
      method: 'GET',
      path: `/containers/${id}/logs?stdout=1&stderr=1&tail=${lines}`,
    })
    const frames = Buffer.from(await answer.body.arrayBuffer())
    let text = ''
    // Each frame: stream (1 byte), nothing (3), length (4), text.
    for (let at = 0; at + 8 <= frames.length; at += 8 + frames.readUInt32BE(at + 4))
      text += frames.toString('utf8', at + 8, at + 8 + frames.readUInt32BE(at + 4))
    return stripVTControlCharacters(text)
      .replace(/[\p{Cc}\s]+/gu, ' ')
      .trim()
  }

  /** Events from `since` (seconds since 1970) on, until the signal or the engine ends them. @throws as `call`. */
  async *events(
    since: number,
    filters: Record<string, string[]>,
    signal: AbortSignal,
  ): AsyncGenerator<EngineEvent> {
    const query = new URLSearchParams({ since: since.toFixed(9), filters: JSON.stringify(filters) })
    const { body } = await this.#ask({
      method: 'GET',
      path: `/events?${query}`,
      signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    let rest = ''
    for await (const chunk of body.setEncoding('utf8')) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()!
      for (const line of lines) if (line !== '') yield JSON.parse(line) as EngineEvent
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  async #ask(request: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
    try {
      return await this.#pool.request({ ...request, headers: { 'content-type': 'application/json' } })
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'EACCES')
        throw new UserError(
          `The Docker socket ${this.host} refuses this program (permission denied); set DOCKER_GID in .env to what \`stat -c %g /var/run/docker.sock\` says, then run \`docker compose up -d scaler\`.`,
          undefined,
          { cause: error },
        )
      throw new Unavailable(
        `No Docker engine answers at ${this.host} (${message}); check DOCKER_HOST and that the socket is mounted.`,
        { cause: error },
      )
    }
  }
}

async function read<T>(method: string, path: string, answer: Dispatcher.ResponseData): Promise<T> {
  const text = await answer.body.text()
  if (answer.statusCode >= 400)
    throw new UserError(`The Docker engine refuses ${method} ${path.split('?')[0]}: ${said(text)}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

function said(text: string): string {
  try {
    return (JSON.parse(text) as { message: string }).message
  } catch {
    return text.slice(0, 300)
  }
}

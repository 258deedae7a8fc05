import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Unavailable, UserError } from '../../core/errors'
import { Engine, NotThere } from './docker-engine'

/** What an engine says on its socket, byte for byte, where none runs. On a real one: tests/containers.test.ts. */
let folder: string
let engine: Engine
let server: Server
let answer: RequestListener

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-engine-'))
  const socket = join(folder, 'docker.sock')
  server = createServer((request, response) => answer(request, response))
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  engine = new Engine(`unix://${socket}`)
})
afterEach(async () => {
  await engine.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await rm(folder, { recursive: true, force: true })
})

test('an engine that is not there is unavailable, so that requests wait, and the remedy is named', async () => {
  const absent = new Engine(`unix://${folder}/none.sock`)
  const fault = await absent.call<Error>('GET', '/containers/json').catch((error: Error) => error)
  await absent.close()
  expect(fault).toBeInstanceOf(Unavailable)
  expect(fault.message).toMatch(/none\.sock .*check DOCKER_HOST and that the socket is mounted/)
})

test('what the engine refuses is told in its words, and what is not there apart from it', async () => {
  answer = (request, response) =>
    response
      .writeHead(request.url === '/gone' ? 404 : 409, { 'content-type': 'application/json' })
      .end('{"message":"the name is taken"}')
  await expect(engine.call('POST', '/containers/create?name=a', { Image: 'x' })).rejects.toThrow(
    new UserError('The Docker engine refuses POST /containers/create: the name is taken'),
  )
  await expect(engine.call('GET', '/gone')).rejects.toBeInstanceOf(NotThere)
})

test('stopping what has stopped already is no fault', async () => {
  answer = (_, response) => response.writeHead(304).end()
  expect(await engine.call('POST', '/containers/a/stop')).toBeUndefined()
})

test('the last lines come without frames, colours and line breaks, a cut frame included', async () => {
  const frame = (stream: number, text: string, claimed = Buffer.byteLength(text)) => {
    const head = Buffer.alloc(8)
    head[0] = stream
    head.writeUInt32BE(claimed, 4)
    return Buffer.concat([head, Buffer.from(text)])
  }
  answer = (_, response) =>
    response.end(
      Buffer.concat([frame(1, 'first\n'), frame(2, '\u001b[31m内存\u001b[0m\tout\r\n'), frame(2, 'cut', 99)]),
    )
  expect(await engine.lastLines('a', 3)).toBe('first 内存 out cut')
})

test('events are read whole, wherever the stream is cut into chunks, and end with the signal', async () => {
  const lines = [1, 2].map((timeNano) =>
    JSON.stringify({ Action: 'die', Actor: { ID: 'é', Attributes: {} }, timeNano }),
  )
  answer = async (_, response) => {
    for (const byte of Buffer.from(`${lines.join('\n')}\n`))
      await new Promise<void>((resolve) => response.write(Buffer.of(byte), () => resolve()))
  }
  const stop = new AbortController()
  const seen: number[] = []
  await expect(
    (async () => {
      for await (const { timeNano, Actor } of engine.events(0, {}, stop.signal)) {
        expect(Actor.ID).toBe('é')
        seen.push(timeNano)
        if (seen.length === 2) stop.abort()
      }
    })(),
  ).rejects.toThrow(/abort/)
  expect(seen).toEqual([1, 2])
})

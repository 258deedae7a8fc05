import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Unavailable, UserError } from '../../core/errors'
import { Engine } from './docker-engine'

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
  const fault = await absent.call<Error>('POST', '/containers/create').catch((error: Error) => error)
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
  expect(await engine.look('/gone')).toBeUndefined()
  // What is to be done with it is another matter: it was not done.
  await expect(engine.call('POST', '/gone')).rejects.toThrow(/refuses POST \/gone: the name is taken/)
})

test('an engine behind a proxy on TCP answers as one on its socket', async () => {
  answer = (_, response) => response.end('[{"Id":"a"}]')
  const proxy = createServer((request, response) => answer(request, response))
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const far = new Engine(`tcp://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
  expect(await far.look('/containers/json')).toEqual(await engine.look('/containers/json'))
  await far.close()
  await new Promise((resolve) => proxy.close(resolve))
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

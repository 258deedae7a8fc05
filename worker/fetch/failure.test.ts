import assert from 'node:assert'
import { errors } from 'undici'
import { expect, it } from 'vitest'
import { FetchFailure, failureOf } from './failure'

const system = (code: string, syscall?: string, message = code) =>
  Object.assign(new Error(message), { code, syscall })
function assertion(): Error {
  try {
    assert(false)
  } catch (error) {
    return error as Error
  }
}

it.each([
  ['dns', system('ENOTFOUND', 'getaddrinfo')],
  ['dns', system('EAI_AGAIN', 'getaddrinfo')],
  ['dns', system('ENODATA')],
  ['connect', system('ECONNREFUSED', 'connect')],
  ['connect', system('EHOSTUNREACH', 'connect')],
  [
    'connect',
    Object.assign(new AggregateError([system('ECONNREFUSED', 'connect')]), { code: 'ECONNREFUSED' }),
  ],
  ['timeout_connect', system('ETIMEDOUT', 'connect')],
  ['timeout_connect', new errors.ConnectTimeoutError('slow')],
  ['timeout_headers', new errors.HeadersTimeoutError()],
  ['timeout_idle', new errors.BodyTimeoutError()],
  ['reset', system('ECONNRESET', 'read')],
  ['reset', system('EPIPE', 'write')],
  ['reset', system('ETIMEDOUT', 'read')],
  ['reset', new errors.SocketError('other side closed')],
  ['tls', system('CERT_HAS_EXPIRED')],
  ['tls', system('DEPTH_ZERO_SELF_SIGNED_CERT')],
  ['tls', system('SELF_SIGNED_CERT_IN_CHAIN')],
  ['tls', system('UNABLE_TO_VERIFY_LEAF_SIGNATURE')],
  ['tls', system('ERR_TLS_CERT_ALTNAME_INVALID')],
  ['tls', system('ERR_SSL_WRONG_VERSION_NUMBER')],
  ['tls', system('EPROTO', 'write')],
  [
    'tls',
    system(
      'ECONNRESET',
      undefined,
      'Client network socket disconnected before secure TLS connection was established',
    ),
  ],
  ['malformed_http', system('HPE_INVALID_HEADER_TOKEN')],
  ['malformed_http', new errors.HTTPParserError('odd')],
  ['malformed_http', new errors.HeadersOverflowError()],
  ['malformed_http', new errors.SocketError('bad response')],
  ['malformed_http', assertion()],
  ['bad_request', new errors.InvalidArgumentError('header')],
  ['aborted', new errors.RequestAbortedError()],
  ['aborted', new errors.ClientDestroyedError()],
  ['network', system('EMFILE', 'connect')],
] as const)('%s: %s', (code, error) => {
  const failure = failureOf(error, 'http://a.example/')
  expect(failure).toMatchObject({ code, cause: error })
  expect((failure as FetchFailure).detail).toContain('http://a.example/')
})

it('a fault of ours stays what it is', () => {
  const ours = new TypeError('undefined is not a function')
  expect(failureOf(ours, '')).toBe(ours)
  const failure = new FetchFailure('type', 'x')
  expect(failureOf(failure, '')).toBe(failure)
})

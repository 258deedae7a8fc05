import { ProxyFault } from '../../core/proxy-connector'

/**
 * Why a fetch gave no page. A closed list: `worker/outcome.ts` holds for each what happens to the URL and its plain words.
 * What a server answers, whatever its status, is not a failure but a `Fetched`.
 */
export const FAILURE_CODES = [
  'dns',
  'connect',
  'tls',
  'timeout_connect',
  'timeout_headers',
  'timeout_idle',
  'timeout_total',
  'reset',
  'network',
  'malformed_http',
  'proxy',
  'private_address',
  'bad_scheme',
  'bad_request',
  'bad_redirect',
  'coding',
  'redirect_loop',
  'redirect_limit',
  'redirect_scope',
  'robots',
  'type',
  'aborted',
] as const
export type FailureCode = (typeof FAILURE_CODES)[number]

/** What was known when the fetch failed; all of it absent before the first answer. */
export interface PartialAnswer {
  /** URL that was being fetched: the last hop. */
  finalUrl?: string
  status?: number
  headers?: Record<string, string>
  contentType?: string | null
  /** URLs gone through before `finalUrl`, the first being the one asked for. */
  redirects?: string[]
  /** Milliseconds from the start of the fetch. */
  ms?: number
}

/** A fetch that gave no page. `code` is the class, `detail` names what it happened to. */
export class FetchFailure extends Error {
  override name = 'FetchFailure'
  answer: PartialAnswer = {}

  constructor(
    readonly code: FailureCode,
    readonly detail: string,
    options?: ErrorOptions,
  ) {
    super(`${code}: ${detail}`, options)
  }
}

/** System and library error codes by class. What is in no row is told apart below. */
const CLASSES: Partial<Record<FailureCode, readonly string[]>> = {
  dns: ['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'ENONAME', 'EBADNAME'],
  connect: [
    'ECONNREFUSED',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'EHOSTDOWN',
    'ENETDOWN',
    'EADDRNOTAVAIL',
    'EACCES',
    'EPERM',
  ],
  timeout_connect: ['UND_ERR_CONNECT_TIMEOUT'],
  timeout_headers: ['UND_ERR_HEADERS_TIMEOUT'],
  timeout_idle: ['UND_ERR_BODY_TIMEOUT'],
  reset: ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET', 'UND_ERR_INFO'],
  malformed_http: [
    'UND_ERR_HEADERS_OVERFLOW',
    'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
    'ERR_ASSERTION',
    'ERR_INVALID_CHAR',
  ],
  bad_request: ['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED'],
  aborted: ['UND_ERR_ABORTED', 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED', 'ABORT_ERR'],
  tls: [
    'EPROTO',
    'CRL_HAS_EXPIRED',
    'HOSTNAME_MISMATCH',
    'INVALID_CA',
    'INVALID_PURPOSE',
    'PATH_LENGTH_EXCEEDED',
  ],
}
const CLASS_OF = new Map(
  Object.entries(CLASSES).flatMap(([failure, codes]) =>
    codes.map((code) => [code, failure as FailureCode] as const),
  ),
)

/** Certificate faults are named by OpenSSL (`CERT_HAS_EXPIRED`, `SELF_SIGNED_CERT_IN_CHAIN` …), too many to list. */
const TLS_CODE = /^ERR_(TLS|SSL)_|CERT|UNABLE_TO_|SIGNATURE/

/**
 * The failure for an error that undici, the socket or the resolver reported.
 * @returns the error itself when it is no such thing: a fault of ours, which must not be mistaken for the network's.
 */
export function failureOf(error: unknown, url: string): unknown {
  if (error instanceof FetchFailure || !(error instanceof Error)) return error
  if (error instanceof ProxyFault)
    return new FetchFailure(error.whose === 'proxy' ? 'proxy' : 'connect', `${url}: ${error.message}`)
  const { code, syscall } = error as NodeJS.ErrnoException
  // undici leaves the code out for what its parser has no name for.
  if (code === undefined && error.name !== 'HTTPParserError') return error
  return new FetchFailure(
    classOf(code ?? 'HPE_', syscall, error.message),
    `${url}: ${error.message || code}`,
    {
      cause: error,
    },
  )
}

function classOf(code: string, syscall: string | undefined, message: string): FailureCode {
  if (syscall === 'getaddrinfo' || code.startsWith('EAI_')) return 'dns'
  if (code === 'ETIMEDOUT')
    return syscall === 'connect' || syscall === undefined ? 'timeout_connect' : 'reset'
  // undici has one code for a dropped connection and for an answer it refuses (an unasked 100, an upgrade).
  if (code === 'UND_ERR_SOCKET' && message.startsWith('bad ')) return 'malformed_http'
  // The server hung up within the TLS handshake.
  if (code === 'ECONNRESET' && message.includes('secure TLS connection')) return 'tls'
  if (code.startsWith('HPE_')) return 'malformed_http'
  return CLASS_OF.get(code) ?? (TLS_CODE.test(code) ? 'tls' : 'network')
}

import { sentence } from '../../core/errors'
import { type FailureCode, FetchFailure } from '../fetch/failure'

/** Chromium's names (net_error_list.h) by class; those that begin with one of these texts. */
const CLASSES: [FailureCode, RegExp][] = [
  ['tls', /^ERR_(CERT|SSL|BAD_SSL)/],
  [
    'reset',
    /^ERR_(CONNECTION_(RESET|CLOSED|ABORTED)|EMPTY_RESPONSE|HTTP2_|INCOMPLETE|CONTENT_LENGTH|SOCKET)/,
  ],
  [
    'malformed_http',
    /^ERR_(INVALID_(HTTP_RESPONSE|CHUNKED)|RESPONSE_HEADERS|CONTENT_DECODING|INVALID_RESPONSE)/,
  ],
  ['redirect_limit', /^ERR_TOO_MANY_REDIRECTS/],
  ['bad_redirect', /^ERR_(INVALID_REDIRECT|INVALID_URL)/],
  ['bad_scheme', /^ERR_(UNKNOWN_URL_SCHEME|DISALLOWED_URL_SCHEME|UNSAFE_REDIRECT)/],
  ['bad_request', /^ERR_(UNSAFE_PORT|INVALID_ARGUMENT)/],
  ['timeout_connect', /^ERR_(CONNECTION_)?TIMED_OUT/],
  ['dns', /^ERR_NAME_/],
]

/** Chromium's word for why the navigation failed, such as `ERR_CONNECTION_RESET`; empty for another kind of error. */
export const netError = (error: unknown): string => /net::(ERR_\w+)/.exec(sentence(error))?.[1] ?? ''

/** Whether the proxy's own record knows more than Chromium's word does. */
export const isProxyFailure = (word: string): boolean => /^ERR_(SOCKS|PROXY|TUNNEL)/.test(word)

/** The failure for an error of a navigation; the error itself when it is none. */
export function navigationFailure(error: unknown, url: string): unknown {
  const word = netError(error)
  if (!word) return error
  const code = CLASSES.find(([, pattern]) => pattern.test(word))?.[0] ?? 'network'
  return new FetchFailure(code, `${url}: ${word}`, { cause: error })
}

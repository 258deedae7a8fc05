import type { Fetched } from './fetch/fetcher'

/** Characters of a page that are looked through; challenge pages are short, and say what they are at once. */
const LOOKED_AT = 16 * 1024
/** A page of 200 that is longer than this is a page, whatever scripts it loads. */
const SHORT_BYTES = 8 * 1024

const HEADERS: [name: string, value: RegExp][] = [
  ['cf-mitigated', /challenge/],
  ['x-amzn-waf-action', /challenge|captcha/],
  ['x-datadome', /protected/],
  ['x-sucuri-block', /./],
]

const MARKS =
  /\/cdn-cgi\/challenge-platform\/|cf-browser-verification|_cf_chl_opt|captcha-delivery\.com|_Incapsula_Resource|px-captcha|_pxCaptcha|awsWafCookieDomainList|gokuProps|ddos-guard\/js-challenge|sucuri_cloudproxy_js|errors\.edgesuite\.net|geetest\.com\/|aliyun_waf|acw_sc__v2/

/** Whether the answer is not the page but a test of who asks (Cloudflare, AWS WAF, DataDome, Imperva, Akamai and the like). */
export function isChallenge({ status, headers, body }: Fetched): boolean {
  if (HEADERS.some(([name, value]) => value.test(headers[name] ?? '')))
    return status !== 200 || body.length <= SHORT_BYTES
  const suspicious =
    [202, 401, 403, 405, 429, 503].includes(status) || (status === 200 && body.length <= SHORT_BYTES)
  return suspicious && MARKS.test(body.toString('latin1', 0, LOOKED_AT))
}

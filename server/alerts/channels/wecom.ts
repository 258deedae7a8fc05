import { z } from 'zod'
import { type HttpChannel, hostOf, JSON_HEADERS, plainText, refusalIn, webAddress } from '../channel'

/** WeCom takes 2048 bytes, and a Chinese character is three. */
const MOST = 680

/** A group robot of WeCom (企业微信). */
export const wecom: HttpChannel<{ url: string }> = {
  schema: z.strictObject({ url: webAddress }),
  secret: ['url'],
  shown: ({ url }) => hostOf(url),
  request: (letter, { url }) => ({
    url,
    headers: JSON_HEADERS,
    body: JSON.stringify({ msgtype: 'text', text: { content: plainText(letter, MOST) } }),
  }),
  refusal: (status, body) =>
    refusalIn(status, body, ({ errcode, errmsg }) => (errcode === 0 ? null : `${errcode}: ${errmsg}`)),
}

import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { type HttpChannel, hostOf, JSON_HEADERS, plainText, refusalIn, webAddress } from '../channel'

/** A custom robot of DingTalk; with a secret, each address is signed anew. */
export const dingtalk: HttpChannel<{ url: string; secret?: string | undefined }> = {
  schema: z.strictObject({ url: webAddress, secret: z.string().max(200).optional() }),
  secret: ['url', 'secret'],
  shown: ({ url }) => hostOf(url),
  request(letter, { url, secret }) {
    const address = new URL(url)
    if (secret) {
      const sign = createHmac('sha256', secret).update(`${letter.at}\n${secret}`).digest('base64')
      address.searchParams.set('timestamp', String(letter.at))
      address.searchParams.set('sign', sign)
    }
    return {
      url: address.href,
      headers: JSON_HEADERS,
      body: JSON.stringify({ msgtype: 'text', text: { content: plainText(letter) } }),
    }
  },
  refusal: (status, body) =>
    refusalIn(status, body, ({ errcode, errmsg }) => (errcode === 0 ? null : `${errcode}: ${errmsg}`)),
}

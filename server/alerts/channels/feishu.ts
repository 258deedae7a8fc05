import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { cut, type HttpChannel, hostOf, JSON_HEADERS, refusalIn, webAddress } from '../channel'

/** A custom bot of Feishu or Lark; with a secret, each message is signed (the text to sign is the key, and nothing is signed with it). */
export const feishu: HttpChannel<{ url: string; secret?: string | undefined }> = {
  schema: z.strictObject({ url: webAddress, secret: z.string().max(200).optional() }),
  secret: ['url', 'secret'],
  shown: ({ url }) => hostOf(url),
  request({ title, text, link, linkText, at }, { url, secret }) {
    const time = Math.floor(at / 1000)
    const sign = secret && {
      timestamp: String(time),
      sign: createHmac('sha256', `${time}\n${secret}`).digest('base64'),
    }
    const content = [[{ tag: 'text', text: cut(text, 4000) }], [{ tag: 'a', text: linkText, href: link }]]
    return {
      url,
      headers: JSON_HEADERS,
      body: JSON.stringify({ ...sign, msg_type: 'post', content: { post: { zh_cn: { title, content } } } }),
    }
  },
  refusal: (status, body) =>
    refusalIn(status, body, ({ code, msg, StatusCode }) =>
      code === 0 || StatusCode === 0 ? null : `${code}: ${msg}`,
    ),
}

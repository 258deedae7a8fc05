import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { cut, type HttpChannel, hostOf, JSON_HEADERS, webAddress } from '../channel'

/** Any program's own address. It can tell by the signature that the message is ours, by its time that it is new, by its id that it is no repetition. */
export const webhook: HttpChannel<{ url: string; secret: string }> = {
  schema: z.strictObject({ url: webAddress, secret: z.string().min(16).max(200) }),
  secret: ['url', 'secret'],
  shown: ({ url }) => hostOf(url),
  request({ key, message, title, text, link, at }, { url, secret }) {
    const time = Math.floor(at / 1000)
    const body = JSON.stringify({ id: key, ...message, title, text, link })
    const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
    return {
      url,
      body,
      headers: {
        ...JSON_HEADERS,
        'x-orbweaver-id': key,
        'x-orbweaver-event': message.event,
        'x-orbweaver-signature': `t=${time},v1=${signature}`,
      },
    }
  },
  refusal: (status, body) => (status >= 200 && status < 300 ? null : `HTTP ${status}: ${cut(body, 300)}`),
}

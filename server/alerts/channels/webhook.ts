import { z } from 'zod'
import { signBody } from '../../sign-body'
import { cut, type HttpChannel, hostOf, JSON_HEADERS, webAddress } from '../channel'

/** Any program's own address. It can tell by the signature that the message is ours, by its time that it is new, by its id that it is no repetition. */
export const webhook: HttpChannel<{ url: string; secret: string }> = {
  schema: z.strictObject({ url: webAddress, secret: z.string().min(16).max(200) }),
  secret: ['url', 'secret'],
  shown: ({ url }) => hostOf(url),
  request({ key, message, title, text, link, at }, { url, secret }) {
    const body = JSON.stringify({ id: key, ...message, title, text, link })
    return {
      url,
      body,
      headers: {
        ...JSON_HEADERS,
        'x-orbweaver-id': key,
        'x-orbweaver-event': message.event,
        'x-orbweaver-signature': signBody(secret, body, at),
      },
    }
  },
  refusal: (status, body) => (status >= 200 && status < 300 ? null : `HTTP ${status}: ${cut(body, 300)}`),
}

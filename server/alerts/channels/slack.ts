import { z } from 'zod'
import { cut, type HttpChannel, hostOf, JSON_HEADERS, webAddress } from '../channel'

/** Slack reads these three as the begin of its own marks, such as a call of the whole channel. */
const plain = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** An incoming webhook of Slack, or of what speaks like it (Mattermost). */
export const slack: HttpChannel<{ url: string }> = {
  schema: z.strictObject({ url: webAddress }),
  secret: ['url'],
  shown: ({ url }) => hostOf(url),
  request: ({ title, text, link, linkText }, { url }) => ({
    url,
    headers: JSON_HEADERS,
    body: JSON.stringify({
      text: plain(title),
      blocks: [title, cut(text, 2800)]
        .map((part) => ({ type: 'section', text: { type: 'plain_text', text: part, emoji: false } }))
        .concat({ type: 'section', text: { type: 'mrkdwn', text: `<${link}|${plain(linkText)}>` } } as never),
    }),
  }),
  refusal: (status, body) => (status === 200 ? null : `HTTP ${status}: ${cut(body, 300)}`),
}

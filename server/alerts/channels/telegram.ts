import { z } from 'zod'
import { type HttpChannel, JSON_HEADERS, plainText, refusalIn, webAddress } from '../channel'

/** A bot of Telegram that writes to a chat. `server` is for those who run the Bot API themselves. */
export const telegram: HttpChannel<{ token: string; chat: string; server: string }> = {
  schema: z.strictObject({
    token: z.string().regex(/^\d+:[\w-]{20,}$/, 'is not the token of a bot, such as 123456:AAE…'),
    chat: z.string().regex(/^(-?\d+|@\w+)$/, 'is neither the number of a chat nor @its_name'),
    server: webAddress.default('https://api.telegram.org'),
  }) as never,
  secret: ['token'],
  shown: ({ chat }) => chat,
  request: (letter, { token, chat, server }) => ({
    url: `${server.replace(/\/+$/, '')}/bot${token}/sendMessage`,
    headers: JSON_HEADERS,
    body: JSON.stringify({
      chat_id: chat,
      text: plainText(letter),
      link_preview_options: { is_disabled: true },
    }),
  }),
  refusal: (status, body) =>
    refusalIn(status, body, ({ ok, error_code, description }) =>
      ok === true ? null : `${error_code}: ${description}`,
    ),
}

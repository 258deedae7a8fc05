import { createTransport } from 'nodemailer'
import { z } from 'zod'
import type { Letter } from '../channel'

export interface EmailSettings {
  host: string
  port: number
  /** `tls`: from the first byte. `starttls`: nothing is sent before the connection is encrypted. `none`: in the open. */
  security: 'tls' | 'starttls' | 'none'
  user?: string | undefined
  password?: string | undefined
  from: string
  to: string[]
}

const schema: z.ZodType<EmailSettings> = z.strictObject({
  host: z.string().regex(/^[\w.:-]{1,253}$/, 'is not the name of a mail server'),
  port: z.number().int().min(1).max(65_535),
  security: z.enum(['tls', 'starttls', 'none']),
  user: z.string().max(200).optional(),
  password: z.string().max(200).optional(),
  from: z.email(),
  to: z.array(z.email()).min(1).max(50),
})

/**
 * Mail over SMTP. Its server may be at a private address, unlike those of the other channels: a relay mostly is, and we say
 * nothing before it has greeted as a mail server does.
 */
export const email = {
  schema,
  secret: ['password'] as const,
  shown: ({ to }: EmailSettings) => to.join(', '),

  /** The same message has the same Message-ID, by which mail programs tell a repetition. */
  mail: ({ key, title, text, link, linkText }: Letter, { from, to }: EmailSettings) => ({
    from: { name: 'Orbweaver', address: from },
    to,
    subject: title,
    text: `${text}\n\n${linkText}: ${link}\n`,
    messageId: `<${key}@orbweaver.invalid>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  }),

  /** @returns what the server said. @throws what it refused, or that it does not answer. */
  async send(letter: Letter, settings: EmailSettings, timeoutMs: number): Promise<string> {
    const { host, port, security, user, password } = settings
    const transport = createTransport({
      host,
      port,
      secure: security === 'tls',
      requireTLS: security === 'starttls',
      ignoreTLS: security === 'none',
      ...(user && { auth: { user, pass: password ?? '' } }),
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    try {
      const { response } = await transport.sendMail(email.mail(letter, settings))
      return response
    } finally {
      transport.close()
    }
  },
}

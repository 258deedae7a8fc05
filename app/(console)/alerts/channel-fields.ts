import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import type { AppRouter } from '../../../server/api/root'

export type Channel = inferRouterOutputs<AppRouter>['alerts']['channels'][number]
export type ChannelKind = Channel['kind']
export type ChannelInput = inferRouterInputs<AppRouter>['alerts']['saveChannel']

/** Every field that some kind of channel has. */
type FieldName =
  | 'url'
  | 'secret'
  | 'host'
  | 'port'
  | 'security'
  | 'user'
  | 'password'
  | 'from'
  | 'to'
  | 'token'
  | 'chat'
  | 'server'

export interface Field {
  name: FieldName
  type: 'text' | 'secret' | 'number' | 'security' | 'addresses'
  optional?: true
  /** Words beside the field, where the kind needs its own: `channels.help.KEY`. */
  help?: 'webhookUrl' | 'webhookSecret' | 'slackUrl' | 'dingtalkUrl' | 'feishuUrl' | 'wecomUrl' | 'signing'
  placeholder?: string
  initial?: string | number
}

const address = (help: Field['help'] & string, placeholder: string): Field => ({
  name: 'url',
  type: 'secret',
  help,
  placeholder,
})
const signing: Field = { name: 'secret', type: 'secret', optional: true, help: 'signing' }

/** What the form of each kind asks for, in its order. The server has the last word on every value. */
export const CHANNEL_FIELDS: Record<ChannelKind, readonly Field[]> = {
  webhook: [
    address('webhookUrl', 'https://example.com/alerts'),
    { name: 'secret', type: 'secret', help: 'webhookSecret' },
  ],
  email: [
    { name: 'host', type: 'text', placeholder: 'smtp.example.com' },
    { name: 'port', type: 'number', initial: 587 },
    { name: 'security', type: 'security', initial: 'starttls' },
    { name: 'user', type: 'text', optional: true },
    { name: 'password', type: 'secret', optional: true },
    { name: 'from', type: 'text', placeholder: 'orbweaver@example.com' },
    { name: 'to', type: 'addresses', placeholder: 'you@example.com' },
  ],
  slack: [address('slackUrl', 'https://hooks.slack.com/services/…')],
  dingtalk: [address('dingtalkUrl', 'https://oapi.dingtalk.com/robot/send?access_token=…'), signing],
  feishu: [address('feishuUrl', 'https://open.feishu.cn/open-apis/bot/v2/hook/…'), signing],
  wecom: [address('wecomUrl', 'https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=…')],
  telegram: [
    { name: 'token', type: 'secret', placeholder: '123456:AAE…' },
    { name: 'chat', type: 'text', placeholder: '-1001234567890' },
    { name: 'server', type: 'text', initial: 'https://api.telegram.org' },
  ],
}

export const CHANNEL_KINDS = Object.keys(CHANNEL_FIELDS) as ChannelKind[]

export type Values = Partial<Record<FieldName, string | number | string[]>>

/** What the form begins with: what may be shown of the channel, or what is usual. Secrets begin empty. */
export const beginWith = (kind: ChannelKind, channel: Channel | null): Values =>
  Object.fromEntries(
    CHANNEL_FIELDS[kind].map(({ name, type, initial }) => [
      name,
      (channel?.settings[name] as Values[FieldName]) ?? initial ?? (type === 'addresses' ? [] : ''),
    ]),
  )

const isEmpty = (value: Values[FieldName]) =>
  value === undefined || (Array.isArray(value) ? value.length === 0 : String(value).trim() === '')

/** Names of fields that still have to be filled in. A secret that is kept need not be. */
export const missingFields = (kind: ChannelKind, values: Values, kept: readonly string[]) =>
  CHANNEL_FIELDS[kind]
    .filter(({ name, optional }) => !optional && !kept.includes(name) && isEmpty(values[name]))
    .map(({ name }) => name)

/** What is sent: fields that are empty are left out, and a secret that is left out stays as it is. */
export const settingsOf = (kind: ChannelKind, values: Values): Record<string, unknown> =>
  Object.fromEntries(
    CHANNEL_FIELDS[kind].flatMap(({ name }) => {
      const value = values[name]
      return isEmpty(value) ? [] : [[name, typeof value === 'string' ? value.trim() : value]]
    }),
  )

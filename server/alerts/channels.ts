import { dingtalk } from './channels/dingtalk'
import { email } from './channels/email'
import { feishu } from './channels/feishu'
import { slack } from './channels/slack'
import { telegram } from './channels/telegram'
import { webhook } from './channels/webhook'
import { wecom } from './channels/wecom'

/** All kinds of channels, in the order of the form. */
export const CHANNELS = { webhook, email, slack, dingtalk, feishu, wecom, telegram }

export type ChannelKind = keyof typeof CHANNELS
export const CHANNEL_KINDS = Object.keys(CHANNELS) as ChannelKind[]

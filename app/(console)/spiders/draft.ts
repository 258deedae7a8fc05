import type { Field, ItemRule, Spider } from '../../../core/spider'

/** A spider while it is edited: lists as the lines of a text, so that a line may be empty while one types. */
export interface Draft
  extends Pick<
    Spider,
    'name' | 'description' | 'robots' | 'allowPrivate' | 'maxPages' | 'dedupe' | 'revisit'
  > {
  seeds: string
  scope: Spider['follow']['scope']
  allow: string
  deny: string
  depth: number | null
  /** `Name: value`, one a line. */
  headers: string
  /** Null: the default item of each page. */
  items: DraftItem[] | null
  /** Whatever the form has no place for; kept as it is. */
  rest: Spider
}

export interface DraftItem {
  key: string
  name: string
  url: string
  each: string
  fields: DraftField[]
}

export interface DraftField extends Omit<Field, 'css' | 'attr' | 'regex'> {
  key: string
  name: string
  css: string
  attr: string
  regex: string
}

let keys = 0
/** Names a row of the form for as long as it is there; its own name changes while it is typed. */
const newKey = () => `row-${++keys}`

export const newField = (name = ''): DraftField => ({
  key: newKey(),
  name,
  css: '',
  attr: '',
  regex: '',
  type: 'text',
  list: false,
  required: false,
})

export const newItem = (): DraftItem => ({
  key: newKey(),
  name: 'item',
  url: '',
  each: '',
  fields: [newField('title')],
})

export function draftOf(spider: Spider): Draft {
  const { name, description, robots, allowPrivate, maxPages, dedupe, revisit, follow } = spider
  return {
    ...{ name, description, robots, allowPrivate, maxPages, dedupe, revisit, rest: spider },
    seeds: spider.seeds.join('\n'),
    scope: follow.scope,
    allow: follow.allow.join('\n'),
    deny: follow.deny.join('\n'),
    depth: follow.depth,
    headers: Object.entries(spider.headers)
      .map(([header, value]) => `${header}: ${value}`)
      .join('\n'),
    items:
      spider.items?.map((item) => ({
        key: newKey(),
        name: item.name,
        url: item.url ?? '',
        each: item.each ?? '',
        fields: Object.entries(item.fields).map(([field, rule]) => ({ ...newField(field), ...rule })),
      })) ?? null,
  }
}

/** What the draft says, as the server checks and stores it. */
export function definitionOf(draft: Draft): Record<string, unknown> {
  const { name, description, robots, allowPrivate, maxPages, dedupe, revisit, scope, depth } = draft
  const { items: _, ...rest } = draft.rest
  return {
    ...rest,
    ...{ name, description, robots, allowPrivate, maxPages, dedupe, revisit },
    seeds: lines(draft.seeds),
    follow: { ...draft.rest.follow, scope, allow: lines(draft.allow), deny: lines(draft.deny), depth },
    headers: Object.fromEntries(
      lines(draft.headers).map((line) => {
        const [header, ...value] = line.split(':')
        return [header!.trim(), value.join(':').trim()]
      }),
    ),
    ...(draft.items && { items: draft.items.map(itemOf) }),
  }
}

const lines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

function itemOf({ name, url, each, fields }: DraftItem): Partial<ItemRule> {
  return {
    name,
    ...(url && { url }),
    ...(each && { each }),
    fields: Object.fromEntries(
      fields.map(({ name, css, attr, regex, type, list, required }) => [
        name,
        { ...(css && { css }), ...(attr && { attr }), ...(regex && { regex }), type, list, required },
      ]),
    ),
  }
}

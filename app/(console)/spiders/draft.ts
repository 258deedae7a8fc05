import type { Field, ItemRule, SourceKind, Spider } from '../../../core/spider'

/** A spider while it is edited: lists as the lines of a text, so that a line may be empty while one types. */
export interface Draft
  extends Pick<
    Spider,
    'name' | 'description' | 'robots' | 'allowPrivate' | 'maxPages' | 'dedupe' | 'revisit'
  > {
  maxPagesPerHost: number | null

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
  /** Whatever the form has no place for. */
  rest: Partial<ItemRule>
}

/** Sources that the form offers; `feed` gives objects, which are written as text. */
export const DRAFT_SOURCES = [
  'css',
  'meta',
  'openGraph',
  'jsonLd',
  'microdata',
  'jsonpath',
  'table',
] as const satisfies SourceKind[]
export type DraftSource = (typeof DRAFT_SOURCES)[number]

export interface DraftField extends Pick<Field, 'type' | 'list' | 'required'> {
  key: string
  name: string
  source: DraftSource
  /** What the source is asked for: a selector, a name or a path. */
  at: string
  attr: string
  regex: string
  /** Whatever the form has no place for; kept as it is. */
  rest: Partial<Field>
}

let keys = 0
/** Names a row of the form for as long as it is there; its own name changes while it is typed. */
const newKey = () => `row-${++keys}`

export const newField = (name = ''): DraftField => ({
  key: newKey(),
  name,
  source: 'css',
  at: '',
  attr: '',
  regex: '',
  type: 'text',
  list: false,
  required: false,
  rest: {},
})

function draftField(name: string, rule: Field): DraftField {
  const source = DRAFT_SOURCES.find((kind) => rule[kind] !== undefined) ?? 'css'
  const { [source]: at = '', attr = '', regex = '', type, list, required, ...rest } = rule
  return { ...newField(name), source, at, attr, regex, type, list, required, rest }
}

export const newItem = (): DraftItem => ({
  key: newKey(),
  name: 'item',
  url: '',
  each: '',
  fields: [newField('title')],
  rest: {},
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
    // Spiders that were stored before this was there have none.
    maxPagesPerHost: spider.maxPagesPerHost ?? null,
    headers: Object.entries(spider.headers)
      .map(([header, value]) => `${header}: ${value}`)
      .join('\n'),
    items:
      spider.items?.map(({ name, url = '', each = '', fields, ...rest }) => ({
        ...{ key: newKey(), name, url, each, rest },
        fields: Object.entries(fields).map(([field, rule]) => draftField(field, rule)),
      })) ?? null,
  }
}

/** What the draft says, as the server checks and stores it. */
export function definitionOf(draft: Draft): Record<string, unknown> {
  const { name, description, robots, allowPrivate, maxPages, dedupe, revisit, scope, depth } = draft
  const { maxPagesPerHost } = draft
  const { items: _, ...rest } = draft.rest
  return {
    ...rest,
    ...{ name, description, robots, allowPrivate, maxPages, maxPagesPerHost, dedupe, revisit },
    seeds: lines(draft.seeds),
    follow: { ...draft.rest.follow, scope, allow: lines(draft.allow), deny: lines(draft.deny), depth },
    headers: headersOf(draft.headers),
    ...(draft.items && { items: draft.items.map(itemOf) }),
  }
}

/** `Name: value`, one a line. */
export const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    lines(text).map((line) => {
      const [header, ...value] = line.split(':')
      return [header!.trim(), value.join(':').trim()]
    }),
  )

const lines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

function itemOf({ name, url, each, fields, rest }: DraftItem): Partial<ItemRule> {
  return {
    ...rest,
    name,
    ...(url && { url }),
    ...(each && { each }),
    fields: Object.fromEntries(fields.map((field) => [field.name, ruleOf(field)])),
  }
}

function ruleOf({ source, at, attr, regex, type, list, required, rest }: DraftField): Field {
  return {
    ...rest,
    ...(at && { [source]: at }),
    ...(attr && { attr }),
    ...(regex && { regex }),
    ...{ type, list, required },
  }
}

/** What is said of a place or of its parts; of `items[0].fields.price` nothing that is said of `items[0].fields.prices`. */
export function faultAt(faults: string[], place: string): string | undefined {
  return faults.find((fault) => fault.startsWith(place) && !/^[\w-]/.test(fault.slice(place.length)))
}

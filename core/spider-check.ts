import { compile } from 'css-select'
import { JSONPathEnvironment } from 'json-p3'
import { RE2JS } from 're2js'
import type { z } from 'zod'
import { sentence, UserError } from './errors'
import { type Field, SOURCES, type SourceRule, type Spider, spiderSchema } from './spider'
import { webUrl } from './url'

/**
 * A spider as written, checked whole: its shape, then seeds, patterns (RE2) and selectors (CSS). Defaults are filled in.
 * @throws SpiderFaults (a UserError) that lists every fault at once, each with its place, its value, what is wrong and what to write.
 */
export function checkSpider(input: unknown): Spider {
  // A schema that holds itself is read by recursion, which a definition made for it would take beyond the stack.
  if (isDeeper(input, MAX_LEVELS))
    refuse([`the spider is nested more than ${MAX_LEVELS} levels deep; write it flatter`])
  const result = spiderSchema.safeParse(input)
  if (!result.success) refuse(result.error.issues.map((issue) => shapeFault(issue, input)))
  const spider = result.data
  const faults = [
    ...revisitFaults(spider),
    ...seedFaults(spider),
    ...followFaults(spider),
    ...selectorFault('render.selector', spider.render?.selector),
    ...itemFaults(spider),
  ]
  if (faults.length > 0) refuse(faults)
  return spider
}

/** Each fault begins with its place in the definition, such as `items[0].fields.price.css`. */
export class SpiderFaults extends UserError {
  constructor(readonly faults: string[]) {
    const count = faults.length === 1 ? '' : ` (${faults.length} faults)`
    super(`The spider cannot be used${count}: ${faults.join('; ')}.`)
  }
}

function refuse(faults: string[]): never {
  throw new SpiderFaults(faults)
}

type Issue = z.core.$ZodIssue

function shapeFault(issue: Issue, input: unknown): string {
  const place = placeOf(issue.path)
  if (issue.code === 'unrecognized_keys')
    return `${place} has no field ${issue.keys.map(quoted).join(', ')}; correct the name or take it out`
  if (issue.code === 'invalid_key')
    return `${place} is not a name that can stand there; names are letters, digits, - and _`
  const value = issue.path.reduce<unknown>(
    (part, key) => (part as Record<PropertyKey, unknown>)?.[key],
    input,
  )
  if (value === undefined) return `${place} is missing; add it (${wanted(issue)})`
  return `${place} is ${quoted(value)}, which is not right; ${wanted(issue)}`
}

/** What should stand there, from what the schema says. */
function wanted(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `write ${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`
    case 'invalid_value':
      return `write one of ${issue.values.map(quoted).join(', ')}`
    case 'too_small':
      return `give at least ${issue.minimum}${unit(issue.origin)}`
    case 'too_big':
      return `give at most ${issue.maximum}${unit(issue.origin)}`
    default:
      return `it ${issue.message.replace(/^Invalid string: /, '')}`
  }
}

function unit(origin: string): string {
  if (origin === 'string') return ' characters'
  return origin === 'array' ? ' entries' : ''
}

function revisitFaults({ revisit, code }: Spider): string[] {
  if (revisit.mode === 'all' || code === undefined) return []
  return ['revisit.mode must be "all" beside code, which reads every page anew; take it out']
}

/** Levels of objects and lists that a definition may have: `MAX_NESTED` fields deep are some twenty. */
const MAX_LEVELS = 64

function isDeeper(value: unknown, levels: number): boolean {
  const isNest = (part: unknown): part is object => typeof part === 'object' && part !== null
  let nests = [value].filter(isNest)
  for (let level = 1; level <= levels && nests.length > 0; level++)
    nests = nests.flatMap((nest) => Object.values(nest)).filter(isNest)
  return nests.length > 0
}

function seedFaults(spider: Spider): string[] {
  const sitemaps = spider.sitemaps === 'auto' ? [] : spider.sitemaps
  return [
    ...spider.seeds.flatMap((seed, n) => faultOf(`seeds[${n}]`, () => webUrl(seed))),
    ...sitemaps.flatMap((url, n) => faultOf(`sitemaps[${n}]`, () => webUrl(url))),
  ]
}

function followFaults({ follow }: Spider): string[] {
  return (['allow', 'deny'] as const).flatMap((list) =>
    follow[list].flatMap((pattern, n) => patternFault(`follow.${list}[${n}]`, pattern)),
  )
}

function itemFaults(spider: Spider): string[] {
  return (spider.items ?? []).flatMap((item, n) => {
    const place = `items[${n}]`
    return [
      ...patternFault(`${place}.url`, item.url),
      ...selectorFault(`${place}.each`, item.each),
      ...(item.each !== undefined && item.from
        ? [`${place} has both each and from; take one of them out`]
        : []),
      ...(item.from ? sourceFaults(`${place}.from`, item.from, true) : []),
      ...fieldFaults(place, item.fields, 1),
    ]
  })
}

/** Objects within objects; as many as `MAX_NESTED` are enough for any page. */
const MAX_NESTED = 8

function fieldFaults(above: string, fields: Record<string, Field>, depth: number): string[] {
  if (depth > MAX_NESTED) return [`${above}.fields is nested too deep; write at most ${MAX_NESTED} levels`]
  return Object.entries(fields).flatMap(([name, field]) => {
    const place = `${above}.fields.${name}`
    return [
      ...sourceFaults(place, field, false),
      ...patternFault(`${place}.regex`, field.regex),
      ...(field.transforms ?? []).flatMap((transform, n) =>
        typeof transform === 'object' && 'replace' in transform
          ? patternFault(`${place}.transforms[${n}].replace`, transform.replace)
          : [],
      ),
      ...zoneFault(`${place}.zone`, field.zone),
      ...defaultFault(place, field),
      ...((field.table || field.feed) && !field.fields && field.type !== 'json'
        ? [`${place} gives objects, not text; add fields, or write "type": "json"`]
        : []),
      ...(field.fields ? fieldFaults(place, field.fields, depth + 1) : []),
    ]
  })
}

function sourceFaults(place: string, rule: SourceRule, needed: boolean): string[] {
  const given = SOURCES.filter((source) => rule[source] !== undefined)
  return [
    ...(given.length > 1
      ? [`${place} has ${given.length} sources (${given.join(', ')}); take all but one out`]
      : []),
    ...(given.length === 0 && needed ? [`${place} has no source; add one of ${SOURCES.join(', ')}`] : []),
    ...(rule.script !== undefined && rule.jsonpath === undefined
      ? [`${place}.script says where a jsonpath looks, and there is none; add jsonpath`]
      : []),
    ...selectorFault(`${place}.css`, rule.css),
    ...selectorFault(`${place}.table`, rule.table),
    ...selectorFault(`${place}.script`, rule.script),
    ...jsonPathFault(`${place}.jsonpath`, rule.jsonpath),
  ]
}

function jsonPathFault(place: string, path: string | undefined): string[] {
  if (path === undefined) return []
  return faultOf(
    `${place} ${quoted(path)} is not a JSONPath`,
    () => new JSONPathEnvironment({ strict: true }).compile(path),
    'correct it (RFC 9535: it begins with $)',
  )
}

function zoneFault(place: string, zone: string | undefined): string[] {
  if (zone === undefined) return []
  return faultOf(
    `${place} ${quoted(zone)} is not an IANA time zone`,
    () => new Intl.DateTimeFormat('en', { timeZone: zone }),
    'write one such as Asia/Shanghai or UTC',
  )
}

function defaultFault(place: string, { list, default: value }: Field): string[] {
  if (value === undefined || Array.isArray(value) === list) return []
  return [
    `${place}.default is ${list ? 'no list, while the field is one' : 'a list, while the field is none'}; correct it`,
  ]
}

function patternFault(place: string, pattern: string | undefined): string[] {
  if (pattern === undefined) return []
  return faultOf(
    `${place} ${quoted(pattern)} is not an RE2 pattern`,
    () => RE2JS.compile(pattern),
    'correct it (RE2 has no look-around and no back-references)',
  )
}

function selectorFault(place: string, selector: string | undefined): string[] {
  if (selector === undefined) return []
  return faultOf(
    `${place} ${quoted(selector)} is not a CSS selector`,
    () => {
      if (!selector.trim()) throw new Error('it is blank')
      compile(selector)
    },
    'correct it (of jQuery’s extensions only :contains, :has and the form ones exist; for :first and :eq(0) write :nth-child(1))',
  )
}

function faultOf(what: string, attempt: () => void, remedy?: string): string[] {
  try {
    attempt()
    return []
  } catch (error) {
    const reason = sentence(error)
      .replace(/^error parsing regexp: /, '')
      .replace(/\.$/, '')
    return [`${what}: ${reason}${remedy ? `; ${remedy}` : ''}`]
  }
}

function placeOf(path: PropertyKey[]): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('')
  return text.replace(/^\./, '') || 'the spider'
}

function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 120 ? `${text.slice(0, 120)}…` : text
}

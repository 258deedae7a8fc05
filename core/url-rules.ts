/** What a spider leaves out of account when it asks whether two URLs are the same page. */
export interface UrlRules {
  /** Names of parameters, in the query or behind a `;` of the path; a `*` at the end stands for any rest. Case counts. */
  drop: readonly string[]
  /** Parameters are put in order by name; those of one name keep theirs. */
  sortQuery: boolean
}

export const NO_RULES: UrlRules = { drop: [], sortQuery: false }

/** The common form of all canonical URLs that the rules take for one. Applying it again changes nothing. */
export function applyRules(canonical: string, rules: UrlRules): string {
  if (rules.drop.length === 0 && !rules.sortQuery) return canonical
  const mark = canonical.indexOf('?')
  const path = mark === -1 ? canonical : canonical.slice(0, mark)
  const shorter = withoutPathParameters(path, rules)
  return shorter + (mark === -1 ? '' : queryOf(canonical.slice(mark + 1), rules))
}

/** `/a;jsessionid=1/b` → `/a/b`. */
function withoutPathParameters(path: string, rules: UrlRules): string {
  if (rules.drop.length === 0 || !path.includes(';')) return path
  const shorter = path.replace(/;([^;=/]*)(?:=[^;/]*)?/g, (parameter, name: string) =>
    isDropped(name, rules) ? '' : parameter,
  )
  // What is left of `/..;a=1/` is a step up.
  return shorter === path ? path : new URL(shorter).href
}

function queryOf(query: string, rules: UrlRules): string {
  const all = query.split('&')
  const kept = all.filter((pair) => !isDropped(nameOf(pair), rules))
  if (rules.sortQuery) kept.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0))
  return kept.length === 0 ? '' : `?${kept.join('&')}`
}

function nameOf(pair: string): string {
  const end = pair.indexOf('=')
  return end === -1 ? pair : pair.slice(0, end)
}

function isDropped(name: string, { drop }: UrlRules): boolean {
  return drop.some((rule) => (rule.endsWith('*') ? name.startsWith(rule.slice(0, -1)) : name === rule))
}

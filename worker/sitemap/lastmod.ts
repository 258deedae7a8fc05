const DAY_MS = 86_400_000

/** The last instant that a date of a sitemap may mean: one without a time means its whole day. Null for what is no date. */
export function latestOf(lastmod: string | null): Date | null {
  const at = lastmod === null ? Number.NaN : Date.parse(lastmod)
  if (Number.isNaN(at)) return null
  return new Date(/^\d{4}-\d\d-\d\d$/.test(lastmod!) ? at + DAY_MS - 1 : at)
}

import type { Command } from 'commander'
import { z } from 'zod'
import { UserError } from '../core/errors'
import { canonicalise, hostKey, InvalidUrl, resolveUrl, site, urlId, webUrl } from '../core/url'
import { probe } from './probe'

const schema = z.object({
  /** As it is written: a reference, or a whole URL. */
  url: z.string(),
  /** URL of the page that it stands on. */
  base: z.string().nullish(),
  /** Parameters that make no difference, as a spider's `identity.drop`. */
  drop: z.array(z.string()).default([]),
  sortQuery: z.boolean().default(false),
})

interface Options {
  base?: string
  drop?: string[]
  sortQuery?: boolean
}

/** `orbweaver url`: what becomes of a link as it is written. */
export function urlCommand(program: Command): void {
  program
    .command('url')
    .description(
      'resolve a URL as written; without one, JSON lines {url, base?, drop?, sortQuery?} on standard input',
    )
    .argument('[url]', 'URL or reference, as it is written')
    .option('--base <url>', 'URL of the page that it stands on')
    .option('--drop <name...>', 'parameters that make no difference; a * at the end stands for any rest')
    .option('--sort-query', 'the order of parameters makes no difference')
    .action((url: string | undefined, options: Options) =>
      probe({ schema, main: 'url', answer }, url === undefined ? null : { url, ...options }),
    )
}

/** `resolved` as browsers do; `fetched`, `canonical` and `key` are null, with `refused`, for what is never crawled. */
function answer({ url, base, drop, sortQuery }: z.output<typeof schema>): object {
  const resolved = resolveUrl(url, base ?? undefined)
  if (resolved === null)
    throw new UserError(
      base
        ? `"${url}" on "${base}" is not a URL.`
        : `"${url}" is not a URL; give its base, or write it whole.`,
    )
  try {
    const fetched = webUrl(url, base ?? undefined)
    const rules = { drop, sortQuery }
    return {
      resolved,
      fetched,
      canonical: canonicalise(fetched, undefined, rules),
      key: urlId(fetched, rules),
      host: hostKey(fetched),
      site: site(hostKey(fetched)),
    }
  } catch (error) {
    if (!(error instanceof InvalidUrl)) throw error
    return { resolved, fetched: null, canonical: null, key: null, refused: error.message }
  }
}

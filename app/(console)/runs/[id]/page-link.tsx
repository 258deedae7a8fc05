import { Link } from '../../../link'

/** A page of a run by its address, which leads to what is known of it; its own page has the way out to the site. */
export function PageLink({ run, hash, url }: { run: number; hash: string; url: string }) {
  return (
    <span className="address">
      <Link href={`/runs/${run}/pages/${hash}`}>{url}</Link>
    </span>
  )
}

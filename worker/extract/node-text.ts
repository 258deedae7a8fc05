import { budget } from './budget'
import { isVoid, type TreeElement, type TreeNode, type TreeParent } from './tree'

const UNSEEN = new Set(['script', 'style', 'template'])
/** Elements that stand apart from what is beside them, so that `<td>a</td><td>b</td>` reads `a b`. */
const APART = new Set(
  (
    'address article aside blockquote br caption dd details dialog div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hr legend li main nav ol optgroup option p pre section summary table tbody td tfoot th ' +
    'thead tr ul'
  ).split(' '),
)
const RAW = new Set('iframe noembed noframes plaintext script style xmp'.split(' '))

/** What a reader would see of a node, with white space as it stands; of a script or style element itself, its source. */
export function textOf(node: TreeNode): string {
  if (node.type === 'text') return node.data
  const parts: string[] = []
  collect(node, parts)
  return parts.join('')
}

function collect(node: TreeParent, parts: string[]): void {
  budget.spend(1 + node.children.length)
  for (const child of node.children) {
    if (child.type === 'text') {
      budget.spend(child.data.length >> 3)
      parts.push(child.data)
    } else if (child.type === 'tag' && !UNSEEN.has(child.name)) {
      const apart = APART.has(child.name)
      if (apart) parts.push(' ')
      collect(child, parts)
      if (apart) parts.push(' ')
    }
  }
}

/** The HTML inside a node (HTML Standard §13.3, serialising fragments). */
export function innerHtml(node: TreeParent): string {
  const parts: string[] = []
  serialise(node, parts)
  return parts.join('')
}

function serialise(node: TreeParent, parts: string[]): void {
  budget.spend(1 + node.children.length)
  const raw = node.type === 'tag' && RAW.has(node.name)
  for (const child of node.children) {
    if (child.type === 'text') {
      budget.spend(child.data.length >> 3)
      parts.push(raw ? child.data : escapeText(child.data))
    } else if (child.type === 'tag') {
      parts.push(startTag(child))
      if (isVoid(child.name)) continue
      serialise(child, parts)
      parts.push(`</${child.name}>`)
    }
  }
}

function startTag({ name, attribs }: TreeElement): string {
  const written = Object.entries(attribs).map(
    ([attribute, value]) => ` ${attribute}="${escapeText(value).replaceAll('"', '&quot;')}"`,
  )
  return `<${name}${written.join('')}>`
}

function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('\u00a0', '&nbsp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

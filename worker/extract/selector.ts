import { compile, type Options, selectAll, selectOne } from 'css-select'
import { budget } from './budget'
import { textOf } from './node-text'
import type { TreeElement, TreeNode, TreeParent } from './tree'

/** A compiled CSS selector; matches are looked for below a node, in document order. */
export interface Selector {
  all(below: TreeParent): TreeElement[]
  first(below: TreeParent): TreeElement | null
}

/** @throws Error for what is not a selector; `checkSpider` refuses such a spider before. */
export function compileSelector(css: string): Selector {
  // Compiling asks the adapter too, and whatever the last page has spent is not this selector's fault.
  budget.refill()
  // Beginning with a combinator, or with :scope, a selector means another thing below each node: compiled there each time.
  const relative = /(^|,)\s*[>+~]|:scope/.test(css)
  const query = relative ? css : compile<TreeNode, TreeElement>(css, options)
  if (relative) compile<TreeNode, TreeElement>(css, options)
  return {
    all: (below) => selectAll<TreeNode, TreeElement>(query, below, options),
    first: (below) => selectOne<TreeNode, TreeElement>(query, below, options),
  }
}

type Test = (element: TreeElement) => boolean

/** css-select asks this at each step it takes, so here its work is counted. */
function isTag(node: TreeNode): node is TreeElement {
  budget.spend(1)
  return node.type === 'tag'
}

const options: Options<TreeNode, TreeElement> = {
  adapter: {
    isTag,
    getAttributeValue: (element, name) =>
      Object.hasOwn(element.attribs, name) ? element.attribs[name] : undefined,
    hasAttrib: (element, name) => Object.hasOwn(element.attribs, name),
    getName: (element) => element.name,
    getChildren: (node) => (node.type === 'text' ? [] : node.children),
    getParent: (element) => element.parent,
    getSiblings: (node) => (node.type === 'root' ? [node] : node.parent.children),
    getText: textOf,
    // Queries begin below one node here, so none of the nodes can lie within another.
    removeSubsets: (nodes) => nodes,
    existsOne: (test, nodes) => {
      // For `:has(~ x)` css-select has built this list anew, out of all the siblings.
      budget.spend(8 * nodes.length)
      return walk(nodes, test)
    },
    findOne: (test, nodes) => {
      let found: TreeElement | null = null
      walk(nodes, (element) => {
        if (!test(element)) return false
        found = element
        return true
      })
      return found
    },
    findAll: (test, nodes) => {
      const found: TreeElement[] = []
      walk(nodes, (element) => {
        if (test(element)) found.push(element)
        return false
      })
      return found
    },
  },
}

/** Visits elements depth first until one is accepted; the tree is never deeper than browsers build. */
function walk(nodes: TreeNode[], accepts: Test): boolean {
  for (const node of nodes) if (isTag(node) && (accepts(node) || walk(node.children, accepts))) return true
  return false
}

const INTEGRATION_POINTS = new Set('foreignobject desc title mi mo mn ms mtext annotation-xml'.split(' '))
const BREAKS_OUT = new Set(
  (
    'b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta ' +
    'nobr ol p pre ruby s small span strong strike sub sup table tt u ul var'
  ).split(' '),
)
const MAX_OPEN = 512

/**
 * Whether the parser stands in SVG or MathML, where `<title>`, `<style>` and `<script>` are not what they are in HTML
 * (HTML Standard §13.2.6.5). Knows only the elements that change the answer.
 */
export class ForeignContent {
  /** True where elements belong to SVG or MathML. */
  inside = false
  #open: string[] = []

  /** Whether anything is open that `close` could end. */
  get entered(): boolean {
    return this.#open.length > 0
  }

  /** Takes note of a start tag; answers whether its element belongs to SVG or MathML itself. */
  open(name: string): boolean {
    const root = name === 'svg' || name === 'math'
    if (!root && !this.inside) return false
    if (root || INTEGRATION_POINTS.has(name)) {
      if (this.#open.length < MAX_OPEN) this.#open.push(name)
    } else if (BREAKS_OUT.has(name)) {
      while (this.#open.length > 0 && !INTEGRATION_POINTS.has(this.#open.at(-1)!)) this.#open.pop()
      this.#settle()
      return false
    }
    this.#settle()
    return true
  }

  close(name: string): void {
    const place = this.#open.lastIndexOf(name)
    if (place === -1) return
    this.#open.length = place
    this.#settle()
  }

  #settle(): void {
    const top = this.#open.at(-1)
    this.inside = top === 'svg' || top === 'math'
  }
}

/**
 * Steps that extraction may take for one page: a second or two, where an ordinary page needs a thousandth of that, and a
 * table of 10,000 rows asked with `tr:nth-child(2n)` just fits. Steps and not time, so that a page gives the same items on
 * a busy machine.
 */
const STEPS_PER_PAGE = 120_000_000
/** Characters that all items of a page may hold together; what a database takes in one statement is not much more. */
const MAX_TEXT = 8_000_000

/** The page's items cost more than a page may; what was read so far is kept. */
export class BudgetSpent extends Error {
  override name = 'BudgetSpent'
}

let steps = 0
let text = 0

/**
 * Work for the page at hand. Selectors such as `p ~ p` or `tr:nth-child(2n)` take quadratic time on a page made for it, and
 * one page must not hold up its worker. There is one budget because extraction runs in one go, page after page.
 */
export const budget = {
  refill(): void {
    steps = STEPS_PER_PAGE
    text = MAX_TEXT
  },

  /** @throws BudgetSpent */
  spend(count: number): void {
    steps -= count
    if (steps < 0) throw new BudgetSpent('The items of this page take too long to extract.')
  },

  /** Accounts for text that goes into an item. @throws BudgetSpent */
  keep(length: number): void {
    text -= length
    if (text < 0) throw new BudgetSpent('The items of this page are too long.')
  },
}

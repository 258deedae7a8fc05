import { z } from 'zod'

const selector = z.string().min(1).max(1000)

const actionSchema = z.union([
  z.strictObject({ click: selector }),
  z.strictObject({ fill: selector, text: z.string().max(1000) }),
  /** A key such as `Enter`, or a combination such as `Control+A`; on the element, or wherever the focus is. */
  z.strictObject({ press: z.string().min(1).max(50), on: selector.optional() }),
  z.strictObject({ wait: z.number().min(0).max(30) }),
  z.strictObject({ waitFor: selector }),
])
export type RenderAction = z.output<typeof actionSchema>

/** A spider's `render`: what is done with a page once a browser has opened it. */
export const renderSchema = z.strictObject({
  /** `load`: until all that the page names is there; `idle`: until nothing has been asked for during half a second. */
  wait: z.enum(['load', 'idle']).default('load'),
  /** CSS selector of an element that is waited for then. */
  selector: selector.optional(),
  /** Seconds that are waited at last, whatever the page does. */
  settle: z.number().min(0).max(30).default(0),
  /** How many times it is scrolled to its end, half a second each. */
  scroll: z.number().int().min(0).max(50).default(0),
  /** Done in this order once the page is there. What cannot be done within 5 s is passed over. */
  actions: z.array(actionSchema).max(20).default([]),
  /** Whether style sheets are fetched; images, fonts and media never are. */
  stylesheets: z.boolean().default(true),
})

export type RenderRules = z.output<typeof renderSchema>

/** Those of a spider that says nothing: its pages are taken once they have loaded. */
export const PLAIN_RULES: RenderRules = renderSchema.parse({})

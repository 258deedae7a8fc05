import type { Command } from 'commander'
import { z } from 'zod'
import { decodeHtml } from '../worker/fetch/charset'
import { documentType } from '../worker/fetch/document-type'
import { bytesOf, bytesSchema, probe } from './probe'

const schema = bytesSchema.extend({
  /** The Content-Type header it came with. */
  contentType: z.string().nullish(),
})

/** `orbweaver decode`: the charset of a document, what says so, and its text. */
export function decodeCommand(program: Command): void {
  program
    .command('decode')
    .description(
      'find the charset of a document; without one, JSON lines {file, text or base64, contentType?} on standard input',
    )
    .argument('[file]', 'the document as it came, without Content-Encoding; - for standard input')
    .option('--content-type <value>', 'the Content-Type header it came with')
    .action((file: string | undefined, options: { contentType?: string }) =>
      probe({ schema, main: 'file', answer }, file === undefined ? null : { file, ...options }),
    )
}

async function answer(input: z.output<typeof schema>): Promise<object> {
  const body = await bytesOf(input)
  const { charset, source, text } = decodeHtml(body, input.contentType ?? null)
  return { type: documentType(body, input.contentType ?? null), charset, source, text }
}

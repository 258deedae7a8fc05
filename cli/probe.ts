import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { sentence, UserError } from '../core/errors'

/** A question that is answered without servers: one input, one answer. */
export interface Probe<Schema extends z.ZodType> {
  /** What one input may say. */
  schema: Schema
  /** The member that a line holding a mere string stands for. */
  main: string
  /** @throws for an input that cannot be answered; its sentence becomes the answer's `error`. */
  answer: (input: z.output<Schema>) => Promise<object> | object
  /** Inputs that are worked on at a time; answers keep their order all the same. */
  atOnce?: number
}

/**
 * Answers the input given as arguments, or else every line of standard input: a JSON object, or a JSON string for the main
 * member. One line of JSON is written for each, in order; what cannot be answered is answered with `error`.
 * @param given the input of the arguments; null when there was none.
 */
export async function probe<Schema extends z.ZodType>(
  asked: Probe<Schema>,
  given: object | null,
): Promise<void> {
  if (given) {
    const answer = await answerTo(asked, () => given)
    write(answer)
    process.exitCode = 'error' in answer ? 1 : 0
    return
  }
  if (process.stdin.isTTY)
    throw new UserError(
      `There is nothing to answer; give ${asked.main} as an argument, or JSON lines on standard input.`,
    )
  const waiting: Promise<object>[] = []
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    waiting.push(answerTo(asked, () => readLine(line, asked.main)))
    if (waiting.length >= (asked.atOnce ?? 1)) write(await waiting.shift()!)
  }
  for (const answer of waiting) write(await answer)
}

function write(answer: object): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}

async function answerTo<Schema extends z.ZodType>(
  asked: Probe<Schema>,
  read: () => unknown,
): Promise<object> {
  try {
    const parsed = asked.schema.safeParse(read())
    if (parsed.success) return await asked.answer(parsed.data)
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'input'}: ${message}`)
    return { error: `The input is not usable (${faults.join('; ')}).` }
  } catch (error) {
    return { error: sentence(error) }
  }
}

function readLine(line: string, main: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    throw new UserError(`The line is not JSON (${sentence(error)}).`)
  }
  return typeof value === 'string' ? { [main]: value } : value
}

/** Where an input's bytes are: a file, or in the line itself. */
export const bytesSchema = z.object({
  /** Path; `-` is standard input. */
  file: z.string().optional(),
  text: z.string().optional(),
  base64: z.string().optional(),
})

/** @throws UserError when none is given, or the file cannot be read. */
export async function bytesOf(from: z.output<typeof bytesSchema>): Promise<Buffer> {
  if (from.base64 !== undefined) return Buffer.from(from.base64, 'base64')
  if (from.text !== undefined) return Buffer.from(from.text)
  if (from.file === undefined) throw new UserError('There is nothing to read; give file, text or base64.')
  try {
    if (from.file !== '-') return await readFile(from.file)
  } catch (error) {
    throw new UserError(`The file ${from.file} can't be read (${sentence(error)}).`)
  }
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

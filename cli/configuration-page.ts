import { z } from 'zod'
import { envTable } from '../core/env'

interface Variable {
  name: string
  description: string
  default?: unknown
  type?: string
  enum?: string[]
  minimum?: number
  maximum?: number
}

/** `docs/configuration.md`: every environment variable, from the table that is parsed. */
export function configurationPage(): string {
  const rows = variables().map(
    ({ name, description, ...rest }) =>
      `| \`${name}\` | ${shown(rest.default)} | ${values(rest)} | ${description.replaceAll('|', '\\|')} |`,
  )
  return `# Configuration

Every process reads these environment variables once, at its start, and refuses to start when one is not usable. An
empty value counts as not given. The settings for fetching are defaults: those of a queue override them, and a change in
the console reaches running workers within two seconds. Secrets have no default; only the embedded stack of \`npm start\`
makes its own and keeps them in \`.orbweaver/\`.

This page is generated from \`core/env.ts\` by \`npm run docs\`, and [.env.example](../.env.example) with it.

| Variable | Default | Values | Meaning |
|---|---|---|---|
${rows.join('\n')}
`
}

/** `.env.example`: the same as a file to copy, with every variable commented out. */
export function exampleEnv(): string {
  const blocks = variables().map(
    ({ name, description, default: value }) => `${wrapped(description)}\n#${name}=${value ?? ''}\n`,
  )
  return `# Copy to .env and uncomment what differs. Generated from core/env.ts by \`npm run docs\`; details in docs/configuration.md.

${blocks.join('\n')}`
}

function variables(): Variable[] {
  const { properties } = z.toJSONSchema(z.object(envTable), { io: 'input', unrepresentable: 'any' })
  return Object.entries(properties!).map(([name, property]) => {
    const variable = property as Omit<Variable, 'name'>
    if (!variable.description) throw new Error(`${name} has no description in core/env.ts.`)
    return { ...variable, name }
  })
}

const shown = (value: unknown) => (value === undefined ? '–' : `\`${value}\``)

function values({ type, enum: words, minimum, maximum }: Omit<Variable, 'name' | 'description'>): string {
  if (words) return words.map((word) => `\`${word}\``).join(', ')
  if (type === 'string') return 'text'
  const kind = type === 'integer' ? 'whole number' : 'number'
  return maximum === undefined ? kind : `${kind}, ${minimum} to ${maximum}`
}

/** As comment lines of at most 100 characters. */
function wrapped(text: string): string {
  return text.replace(/(?=\S)(.{1,98})(?:\s+|$)/g, '# $1\n').trimEnd()
}

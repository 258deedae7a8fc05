import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configurationPage, exampleEnv } from './configuration-page'

const root = join(import.meta.dirname, '..')

test('docs/configuration.md says what core/env.ts does', async () => {
  await expect(configurationPage()).toMatchFileSnapshot(join(root, 'docs/configuration.md'))
})

test('.env.example names every variable of core/env.ts', async () => {
  await expect(exampleEnv()).toMatchFileSnapshot(join(root, '.env.example'))
})

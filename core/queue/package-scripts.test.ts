import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packageScripts } from './package-scripts'

test('the packaged scripts are those of lua/', async () => {
  await expect(packageScripts(join(import.meta.dirname, 'lua'))).toMatchFileSnapshot('scripts.generated.ts')
})

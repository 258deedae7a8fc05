import { defineConfig } from 'vitest/config'

/** `npm run test-spiders`: the tests of the spiders in code, which need no servers. */
export default defineConfig({
  test: {
    root: process.cwd(),
    include: ['spiders/**/*.test.ts'],
    exclude: ['**/node_modules/**'],
    passWithNoTests: true,
  },
})

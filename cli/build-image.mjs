import { build } from 'esbuild'

/**
 * `node cli/build-image.mjs FOLDER NAME=ENTRY…`: bundles programs with the parts of their packages that they use, so that an
 * image needs no node_modules: a tenth of the size, and nothing in it that only the console or the build needs.
 */
const [outdir, ...entries] = process.argv.slice(2)
await build({
  entryPoints: Object.fromEntries(entries.map((entry) => entry.split('='))),
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  // What licences ask to be kept stands beside each bundle.
  legalComments: 'linked',
  sourcemap: true,
  sourcesContent: false,
  // Only the build and the bench on a checkout ask for these, and images have neither.
  external: ['esbuild', 'vite', 'playwright-core'],
  // Packages in the older format ask for Node's modules by `require`.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  logLevel: 'warning',
})

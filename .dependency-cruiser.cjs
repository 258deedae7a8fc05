/** Which folder may import which: docs/architecture.md. Tests, and what only they use, may import everything. */
const TESTS = '\\.test\\.tsx?$|^tests/|-(fixture|model|play)\\.ts$'

// The swc reader of dependency-cruiser does not ask for JSX, and takes `import type` for an import of values. So JSX is
// asked for here, and `import type … from 'x'` is handed on as the type `import('x')`, which it does tell apart.
const swc = require('@swc/core')
const { parseFileSync } = swc
const TYPE_IMPORT = swc.parseSync("let type: import('x')", { syntax: 'typescript' }).body[0]
const asType = (node) => {
  const type = structuredClone(TYPE_IMPORT)
  type.declarations[0].id.typeAnnotation.typeAnnotation.argument.value = node.source.value
  return type
}
swc.parseFileSync = (file, options) => {
  const ast = parseFileSync(file, { ...options, tsx: file.endsWith('.tsx') })
  ast.body = ast.body.map((node) => (node.typeOnly && node.source ? asType(node) : node))
  return ast
}
const VALUES = { dependencyTypesNot: ['type-import'] }

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Files that need each other cannot be understood, tested or started one at a time.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: VALUES },
    },
    {
      name: 'no-unresolved',
      comment: 'An import that leads nowhere fails only when it is run.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'only-production-packages',
      comment: 'Images are built without development packages, so what runs there must not need them.',
      severity: 'error',
      from: {
        path: '^(app|core|drizzle|server|worker|cli)/',
        pathNot: `${TESTS}|^cli/build(-image)?\\.mjs$`,
      },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], ...VALUES },
    },
    {
      name: 'core-stands-alone',
      comment:
        'core/ is the contract between worker and server; with other folders in it, both would depend on them.',
      severity: 'error',
      from: { path: '^core/', pathNot: TESTS },
      to: { path: '^(app|bench|cli|drizzle|examples|messages|server|tests|worker)/' },
    },
    {
      name: 'drizzle-knows-core-only',
      comment: 'The schema is used by every process, so it must not bring any of them along.',
      severity: 'error',
      from: { path: '^drizzle/', pathNot: TESTS },
      to: { path: '^(app|bench|cli|examples|messages|server|tests|worker)/' },
    },
    {
      name: 'worker-knows-no-server',
      comment: 'Workers run alone in an image without console; they meet the server in Redis and MySQL only.',
      severity: 'error',
      from: { path: '^worker/', pathNot: TESTS },
      to: { path: '^(app|bench|cli|examples|messages|server|tests)/' },
    },
    {
      name: 'worker-writes-in-its-sink',
      comment:
        'One place writes the record, so one place is right about order, fencing and retry; worker-program.ts only connects.',
      severity: 'error',
      from: { path: '^worker/', pathNot: `${TESTS}|^worker/(sink/|worker-program\\.ts$)` },
      to: { path: '^drizzle/', ...VALUES },
    },
    {
      name: 'server-knows-no-worker',
      comment: 'The console is scaled and deployed apart from the workers.',
      severity: 'error',
      from: { path: '^server/', pathNot: TESTS },
      to: { path: '^(app|bench|cli|examples|tests|worker)/' },
    },
    {
      name: 'app-renders-only',
      comment:
        'Pages take the type of the root router. Values of the server, which know its secrets, are for route handlers and the caller on the server side.',
      severity: 'error',
      from: { path: '^app/', pathNot: `${TESTS}|/route\\.ts$|^app/server-caller\\.tsx?$` },
      to: { path: '^(server|drizzle|worker|cli|bench|examples)/', ...VALUES },
    },
    {
      name: 'cli-is-on-top',
      comment: 'Nothing but the bench and tests builds on commands.',
      severity: 'error',
      from: { pathNot: `^(cli|bench)/|${TESTS}` },
      to: { path: '^cli/' },
    },
    {
      name: 'nobody-imports-tests',
      comment: 'What a test needs must not become part of what runs.',
      severity: 'error',
      from: { pathNot: TESTS },
      to: { path: '^tests/' },
    },
  ],
  options: {
    // TypeScript 7 has no compiler API in JavaScript, which the default parser needs.
    parser: 'swc',
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|\\.next|\\.orbweaver|node_modules/\\.)' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.mts', '.mjs', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
}

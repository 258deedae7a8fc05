import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** Says why each skipped test was skipped, and closes the run with one plain line of totals. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]) {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    // A file that cannot be loaded holds no tests, and an error outside of any belongs to none: both are failures.
    const broken = modules.filter((module) => module.errors().length > 0).length + errors.length
    const skipped = tests.filter((test) => test.result().state === 'skipped')
    for (const test of skipped)
      console.log(`skipped: ${test.module.relativeModuleId} > ${test.fullName}: ${reason(test)}`)
    console.log(`${count('passed')} passed, ${count('failed') + broken} failed, ${skipped.length} skipped`)
  }
}

function reason(test: TestCase): string {
  const result = test.result()
  return (result.state === 'skipped' && result.note) || 'no reason given'
}

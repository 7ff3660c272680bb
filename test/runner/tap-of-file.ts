import type { Test } from 'tap'
import { runningFile } from './running-file.ts'

/**
 * What `import t from 'tap'` is for test files that share a process (`share-tap.ts`): the test of the file that is
 * running, so that what the file asserts, skips and tears down belongs to it. A test file gets its own. A helper is
 * loaded once for all files of the process: it gets one that is always that of the running file.
 */
export default import.meta.url.endsWith('?helper') ? testOfRunningFile() : runningFile().test

function testOfRunningFile(): Test {
  // The cast is sound: every property is looked up in a test.
  return new Proxy({} as Test, {
    get(_, name) {
      const { test } = runningFile()
      const value: unknown = Reflect.get(test, name)
      return typeof value === 'function' ? value.bind(test) : value
    },
  })
}

import { registerHooks } from 'node:module'
import { runningFile } from './running-file.ts'

const own = new URL('.', import.meta.url).href

/** In place of what follows every promise to find the test that an error belongs to: that costs more than it tells. */
const noDomains = 'data:text/javascript,export class Domain { destroy() {} }'

/** Where plugins of tap keep every test, and all that it refers to, for as long as the process runs. */
const everyTest = 'static #refs = new Map()'
/** The same, until nothing else refers to the test. */
const everyTestInUse = 'static #refs = new WeakMap()'

/**
 * From now on, whatever imports tap gets the test of the file that is running (`tap-of-file.ts`). An error that nobody
 * catches ends the process.
 */
export function shareTap(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier === 'async-hook-domain') return { url: noDomains, shortCircuit: true }
      const { parentURL = '' } = context
      const isTest = parentURL.endsWith('.test.ts')
      const isOfRunner = parentURL.startsWith(own) && !isTest
      if (specifier !== 'tap' || isOfRunner || parentURL.includes('/node_modules/'))
        return nextResolve(specifier, context)
      const query = isTest ? `file=${runningFile().number}` : 'helper'
      return nextResolve(`${own}tap-of-file.ts?${query}`, context)
    },
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      if (!url.includes('/node_modules/@tapjs/')) return loaded
      return { ...loaded, source: String(loaded.source).replace(everyTest, everyTestInUse) }
    },
  })
}

import { registerHooks } from 'node:module'
import { runningFile } from './running-file.ts'

const own = new URL('.', import.meta.url).href

/** From now on, whatever imports tap gets the test of the file that is running (`tap-of-file.ts`). */
export function shareTap(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const { parentURL = '' } = context
      if (specifier !== 'tap' || parentURL.startsWith(own) || parentURL.includes('/node_modules/'))
        return nextResolve(specifier, context)
      const query = parentURL.endsWith('.test.ts') ? `file=${runningFile().number}` : 'helper'
      return nextResolve(`${own}tap-of-file.ts?${query}`, context)
    },
  })
}

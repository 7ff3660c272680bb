import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * Keeps what Node makes of the sources beside the packages: a start takes half the time then. Where that
 * folder cannot be written, nothing is kept. To be called before anything else is loaded.
 */
export function keepCompiled(): void {
  enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/gatehouse', import.meta.url)))
}

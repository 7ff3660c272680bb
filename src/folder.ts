import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { hasCode } from './errors.ts'

/**
 * Makes a folder, and those above it that are missing, for nobody else to look into. Not mkdir's own
 * `recursive`: where the system says "no such file" of a folder that cannot be made (/proc, automounts),
 * that tries for ever.
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // The slash: a file in its place is then told as what it is.
    if (hasCode(error, 'EEXIST')) return void statSync(`${path}/`)
    if (!hasCode(error, 'ENOENT') || existsSync(dirname(path))) throw error
    makeFolder(dirname(path))
    makeFolder(path)
  }
}

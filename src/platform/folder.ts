import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { hasErrorCode } from './system-error.ts'

/**
 * Creates a folder, and missing parents, that only its owner can read. Without mkdir's `recursive`, which retries
 * forever where the system reports "no such file" for a folder that cannot be created (/proc, automounts).
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // With the slash a file in its place gives the right error.
    if (hasErrorCode(error, 'EEXIST')) return void statSync(`${path}/`)
    if (!hasErrorCode(error, 'ENOENT') || existsSync(dirname(path))) throw error
    makeFolder(dirname(path))
    makeFolder(path)
  }
}

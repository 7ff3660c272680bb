import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { shellWord } from '#platform/text.ts'
import { program, tempFolder } from './run.ts'

/** A folder with files, a folder `config`, and `gatehouse` in `bin`, which is to be on PATH. */
export function createCommandFolder(t: Test, files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = tempFolder(t)
  for (const name of ['bin', 'config']) mkdirSync(join(folder, name))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const words = [process.execPath, program].map(shellWord).join(' ')
  writeFileSync(join(folder, 'bin/gatehouse'), `#!/bin/sh\nexec ${words} "$@"\n`)
  chmodSync(join(folder, 'bin/gatehouse'), 0o755)
  return folder
}

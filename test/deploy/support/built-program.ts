import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import type { ContainerSpec } from './container.ts'

/** The program as the image has it: built, in a folder of its own. @returns the folder */
export function buildProgram(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-built-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o755)
  for (const name of ['package.json', 'bin', 'tools', 'tsconfig.json', 'src', 'config']) {
    cpSync(name, join(folder, name), { recursive: true })
  }
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  // Without the loaders that the test runner adds to every child.
  execFileSync('env', ['-u', 'NODE_OPTIONS', process.execPath, 'tools/build.ts'], { cwd: folder })
  rmSync(join(folder, 'node_modules'))
  rmSync(join(folder, 'src'), { recursive: true })
  mkdirSync(join(folder, 'data'))
  return folder
}

/** Where the program is in a container. */
export function programMounts(folder: string, target: string): ContainerSpec['mounts'] {
  return { [target]: { source: folder } }
}

import { existsSync, readdirSync } from 'node:fs'
import { join, normalize, relative } from 'node:path'
import { isWithQuickTests } from '../setup/programs.ts'
import { declarationsOf, programsOf } from './declarations.ts'

export interface Selection {
  readonly files: readonly string[]
  /** Those that were asked for, and belong to `test:all` only. */
  readonly left: readonly string[]
  /** What was asked for that no file is called. */
  readonly unknown: readonly string[]
}

/**
 * The test files to run. A file that is named is run whatever it needs; one of a folder, only if it is quick or all
 * are asked for.
 * @param parts files, or starts of paths, below `test/` or not; none = everything
 */
export function selectFiles(parts: readonly string[], layer: 'quick' | 'all'): Selection {
  const everything = allTestFiles()
  const named = new Set(parts.map(fileNamed).filter((file) => everything.includes(file)))
  const asked = everything.filter((file) => parts.length === 0 || parts.some((part) => isBelow(file, part)))
  const files = asked.filter((file) => layer === 'all' || named.has(file) || isQuick(file))
  return {
    files,
    left: asked.filter((file) => !files.includes(file)),
    unknown: parts.filter((part) => !everything.some((file) => isBelow(file, part))),
  }
}

/** A test that one waits for after each change, and that needs nothing but what npm installs. */
export function isQuick(file: string): boolean {
  return !declarationsOf(file).slow && programsOf(file).every(isWithQuickTests)
}

export function allTestFiles(): readonly string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => join('test', path))
    .sort()
}

function fileNamed(part: string): string {
  const path = normalize(relative('.', part))
  return existsSync(path) ? path : join('test', path)
}

function isBelow(file: string, part: string): boolean {
  const path = normalize(relative('.', part)) + (part.endsWith('/') ? '/' : '')
  return file.startsWith(path) || file.startsWith(join('test', path))
}

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Why a test cannot run on this machine: the runner counts it as skipped, and names the program. */
export class MissingProgram extends Error {
  override readonly name = 'MissingProgram'
  readonly code = 'MISSING_PROGRAM'
  readonly program: string

  constructor(program: string) {
    super(`${program} is not on PATH`)
    this.program = program
  }
}

/** @throws MissingProgram */
export function assertProgram(program: string): void {
  if (!isOnPath(program)) throw new MissingProgram(program)
}

/** Why a test that starts these programs is skipped; false where all are there. */
export function without(...names: readonly string[]): string | false {
  const missing = names.find((name) => !isOnPath(name))
  return missing !== undefined && `needs ${missing}`
}

export function isOnPath(program: string): boolean {
  return placesOf(program).some(isExecutable)
}

/** Where a program might be, in the order of PATH. */
export function placesOf(program: string): readonly string[] {
  return (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, program))
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

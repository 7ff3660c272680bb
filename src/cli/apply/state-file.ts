import { isUtf8 } from 'node:buffer'
import { applyMax, type DesiredState, desiredState, findStateErrors } from '#accounts/apply/desired-state.ts'
import { findSchemaErrors } from '#api/validate-with-schemas.ts'
import { listProblems } from '#config/problem.ts'
import { type ConfigFile, readConfigFile } from '#config/read-config-file.ts'
import { type FieldError, GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import { readAtMost } from '#platform/files.ts'
import type { Terminal } from '../command.ts'
import { readInput, standardStream } from '../import/source.ts'

/** A file that describes accounts and their keys. */
export interface StateFile {
  /** Its name in messages. */
  readonly name: string
  readonly state: DesiredState
  /** Adds file and line to the errors about the state that some work throws. */
  locating<Result>(work: Promise<Result>): Promise<Result>
}

const pruneHint = 'Nothing was changed. See --prune-max in gatehouse apply --help.'

/** Large enough for `applyMax.command` accounts. */
const fileBytesMax = 8 * 1_048_576

/**
 * Reads YAML, or JSON, which is YAML too.
 * @throws OperatorError with every problem that does not depend on the store, and its line
 */
export async function readStateFile(
  path: string,
  terminal: Terminal,
  planNames: readonly string[],
): Promise<StateFile> {
  const name = path === standardStream ? 'standard input' : path
  const bytes = await readBytes(path, terminal).catch((cause: unknown) => {
    throw new OperatorError(`cannot read ${name}: ${errorMessage(cause)}`, { cause })
  })
  if (!isUtf8(bytes)) throw new OperatorError(`cannot read ${name}: it is not UTF-8`)
  const file = readConfigFile(name, bytes.toString())
  if (file.problems.length > 0) throw invalid(name, listProblems(file.problems))
  const errors = [
    ...findSchemaErrors(desiredState, file.tree),
    ...findStateErrors(file.tree, { accountsMax: applyMax.command, planNames }),
  ]
  if (errors.length > 0) throw invalid(name, linesOf(errors, file))
  return {
    name,
    // The cast is sound: the schema accepts it.
    state: file.tree as unknown as DesiredState,
    locating: (work) =>
      work.catch((error: unknown) => {
        if (!(error instanceof GatehouseError) || error.code !== 'request-invalid') throw error
        const errors = error.errors ?? []
        const ofFile = errors.filter(({ field }) => field.startsWith('accounts'))
        if (ofFile.length > 0) throw invalid(name, linesOf(ofFile, file))
        throw new OperatorError(errors.map(({ message }) => message).join('; '), { hint: pruneHint })
      }),
  }
}

async function readBytes(path: string, { input = process.stdin }: Terminal): Promise<Buffer> {
  if (path !== standardStream) return readAtMost(path, fileBytesMax)
  const bytes = await readInput(input, fileBytesMax)
  if (bytes.length > fileBytesMax) throw new Error(`it is larger than ${fileBytesMax / 1_048_576} MiB`)
  return bytes
}

function linesOf(errors: readonly FieldError[], file: ConfigFile): readonly string[] {
  return listProblems(
    errors.map(({ field, message }) => {
      const path = field.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
      return { path, message, source: file.locate(path) }
    }),
  )
}

function invalid(name: string, lines: readonly string[]): OperatorError {
  return new OperatorError([`${name} is invalid; nothing was changed:`, ...lines].join('\n  '))
}

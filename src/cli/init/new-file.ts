import { existsSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type ConfigReadResult, readConfig } from '#config/load.ts'
import { type NewConfig, newConfigText } from '#config/new-config.ts'
import { formatPath, listProblems, type Problem } from '#config/problem.ts'
import { findWarnings } from '#config/warnings/find-warnings.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import { makeFolder } from '#platform/files.ts'
import { readSealingKeys } from '#platform/secrets/sealing-key.ts'
import { questions } from './questions.ts'

/** What was written. */
export interface WrittenConfig {
  readonly warnings: readonly string[]
  /** The sealing key that was created for it; undefined = there was one, or the gateway creates it. */
  readonly sealingKeyFile: string | undefined
}

const sealingKeyPath = 'keys.sealingKey'

/** The problems of a config that is not written yet, each after the option that it is about. */
export function findProblems(file: string, answers: NewConfig): readonly string[] {
  return problemsOf(file, answers).map(({ path, message }) => `${optionOf(formatPath(path))}: ${message}`)
}

function problemsOf(file: string, answers: NewConfig): readonly Problem[] {
  const reading = read(file, answers)
  return missingSealingKey(reading, answers) === undefined
    ? reading.problems
    : reading.problems.filter(({ path }) => formatPath(path) !== sealingKeyPath)
}

/** Without the environment: what is written must be valid by itself. */
function read(file: string, answers: NewConfig): ConfigReadResult {
  return readConfig({ file, text: newConfigText(file, answers), env: {} })
}

/** With Redis no other command creates the sealing key, which all instances share. */
function missingSealingKey(
  { tree, resolvePath }: ConfigReadResult,
  { store }: NewConfig,
): string | undefined {
  const { file } = tree.keys.sealingKey
  const path = file === undefined ? undefined : resolvePath(file)
  return store === 'redis' && path !== undefined && !existsSync(path) ? path : undefined
}

/** `--port` for `listen.port`; an option that no question sets keeps its name. */
function optionOf(path: string): string {
  const question = questions.find(({ sets }) => path === sets || path.startsWith(`${sets}.`))
  return question ? `--${question.option}` : path
}

/**
 * Writes the config, and the sealing key that it needs.
 * @throws OperatorError where it is not valid, or the file exists and may not be replaced
 */
export function writeNewConfig(
  file: string,
  answers: NewConfig,
  { mayReplace }: { readonly mayReplace: boolean },
): WrittenConfig {
  const problems = findProblems(file, answers)
  if (problems.length > 0) {
    throw new OperatorError(['nothing was written:', ...problems].join('\n  '), {
      hint: 'See: gatehouse init --help',
    })
  }
  const sealingKeyFile = missingSealingKey(read(file, answers), answers)
  if (sealingKeyFile !== undefined) {
    readSealingKeys({ kind: 'file', file: resolve(sealingKeyFile) }, { mayCreate: true })
  }
  const reading = read(file, answers)
  write(file, newConfigText(file, answers), mayReplace)
  const { config } = reading
  const warnings = config
    ? findWarnings(reading, createOwnPaths(config.portal, config.routes, config), { env: {} })
    : []
  return { warnings: listProblems(warnings), sealingKeyFile }
}

function write(file: string, text: string, mayReplace: boolean): void {
  try {
    makeFolder(dirname(file))
    writeFileSync(file, text, { flag: mayReplace ? 'w' : 'wx' })
  } catch (cause) {
    throw new OperatorError(`cannot write ${file}: ${errorMessage(cause)}`, { cause })
  }
}

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

/** One question of `init`: an option of the command, or what is asked on a terminal. */
export interface Question {
  readonly name: keyof NewConfig
  readonly option: string
  /** The option of the config that the answer becomes. */
  readonly sets: string
  readonly value: string
  readonly help: string
  readonly ask: string
  readonly choices?: readonly string[]
  /** What an empty answer means; undefined = an answer is needed. */
  defaultOf(answers: Partial<NewConfig>): string | undefined
  /** Whether it makes sense after the answers so far; default: always. */
  isAsked?(answers: Partial<NewConfig>): boolean
}

/** Whether the gateway is to listen on any free port: what clients connect to does not follow from it. */
export function isAnyPort(port: string): boolean {
  return /^0+$/.test(port)
}

const authKinds = ['any', 'secretKey', 'bearer', 'optional', 'none']

/** In the order in which they are asked: a default may depend on earlier answers. */
export const questions: readonly Question[] = [
  {
    name: 'upstream',
    option: 'upstream',
    sets: 'upstreams.backend',
    value: 'URL',
    help: 'Where the backend listens, such as http://127.0.0.1:3000.',
    ask: 'Where does your backend listen',
    defaultOf: () => undefined,
  },
  {
    name: 'path',
    option: 'path',
    sets: 'routes[0].path',
    value: '/',
    help: 'Path prefix of the requests that go to it; default /.',
    ask: 'Which path prefix goes to it',
    defaultOf: () => '/',
  },
  {
    name: 'auth',
    option: 'auth',
    sets: 'routes[0].auth',
    value: authKinds.join('|'),
    help: 'How its callers authenticate; default any: by secret key or by bearer token.',
    ask: `How do callers authenticate (${authKinds.join(', ')})`,
    choices: authKinds,
    defaultOf: () => 'any',
  },
  {
    name: 'host',
    option: 'host',
    sets: 'listen.host',
    value: 'ADDRESS',
    help: 'Address that the gateway listens on; default 127.0.0.1: this machine only.',
    ask: 'Which address does the gateway listen on',
    defaultOf: () => '127.0.0.1',
  },
  {
    name: 'port',
    option: 'port',
    sets: 'listen.port',
    value: 'PORT',
    help: 'Port that it listens on; default 8080.',
    ask: 'Which port',
    defaultOf: () => '8080',
  },
  {
    name: 'publicUrl',
    option: 'public-url',
    sets: 'publicUrl',
    value: 'URL',
    help: 'URL that clients use; default http://localhost and the port.',
    ask: 'Which URL do clients use',
    // A wrong port is reported once, as a wrong port.
    defaultOf: ({ port = '' }) =>
      isAnyPort(port)
        ? undefined
        : `http://localhost${/^\d{1,4}$|^[1-6]\d{4}$/.test(port) ? `:${port}` : ''}`,
  },
  {
    name: 'store',
    option: 'store',
    sets: 'store.driver',
    value: 'sqlite|redis',
    help: 'Where accounts are kept: sqlite (default) for one machine, redis for many.',
    ask: 'Where are accounts kept (sqlite for one machine, redis for many)',
    choices: ['sqlite', 'redis'],
    defaultOf: () => 'sqlite',
  },
  {
    name: 'redisUrl',
    option: 'redis-url',
    sets: 'store.redis',
    value: 'URL',
    help: 'URL of Redis, without a password; default redis://127.0.0.1:6379.',
    ask: 'Where does Redis listen',
    defaultOf: () => 'redis://127.0.0.1:6379',
    isAsked: ({ store }) => store === 'redis',
  },
]

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

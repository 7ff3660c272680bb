import { statSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage, hasErrorCode } from '#platform/errors/operator-error.ts'
import { readAtMost } from '#platform/files.ts'
import { isRecord } from '#platform/json.ts'
import { isCredentialField } from '#platform/secrets/hide-secrets.ts'
import type { Path, Warning } from './problem.ts'
import type { SecretReference, SecretResult } from './schema/node.ts'
import { type ConfigTree, schemaAt } from './schema/schema.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads each secret once, so that the text that is used is the one that was checked, even if its file has changed
 * since.
 */
export function createSecretReader(
  env: Environment,
  resolvePath: (path: string) => string,
): (reference: SecretReference) => SecretResult {
  const read = new Map<string, SecretResult>()
  return (reference) => {
    const name = nameOfSecret(reference)
    const found = read.get(name) ?? readSecret(reference, env, resolvePath)
    read.set(name, found)
    return found
  }
}

export function nameOfSecret(reference: SecretReference): string {
  return Object.entries(reference).flat().join(' ')
}

function readSecret(
  { file, env: name, credential, encoding }: SecretReference,
  env: Environment,
  resolvePath: (path: string) => string,
): SecretResult {
  if (file !== undefined) return readSecretFile(resolvePath(file), encoding)
  if (credential !== undefined) return readCredential(credential, env)
  const value = name !== undefined && Object.hasOwn(env, name) ? env[name] : undefined
  if (value === undefined) return { problem: `the environment variable ${name} is not set`, isMissing: true }
  if (value === '') return { problem: `the environment variable ${name} is empty`, isMissing: false }
  return { value }
}

/** Services read what systemd passes them in this folder (systemd.exec(5), "Credentials"). */
function readCredential(name: string, { CREDENTIALS_DIRECTORY: folder }: Environment): SecretResult {
  if (folder) return readSecretFile(join(folder, name))
  const problem = `$CREDENTIALS_DIRECTORY is not set: a systemd service sets it with LoadCredential=${name}:PATH`
  return { problem, isMissing: true }
}

/** More than any list of certificates needs. */
const fileBytesMax = 8 * 1_048_576

function readSecretFile(file: string, encoding?: SecretReference['encoding']): SecretResult {
  try {
    const bytes = readAtMost(file, fileBytesMax)
    const value = encoding ? bytes.toString(encoding) : bytes.toString('utf8').replace(/\r?\n$/, '')
    return value === '' ? { problem: `${file} is empty`, isMissing: false } : { value }
  } catch (error) {
    return {
      problem: `cannot read ${file}: ${errorMessage(error)}`,
      isMissing: hasErrorCode(error, 'ENOENT'),
    }
  }
}

/** Mode bits: all other users may read the file, and they or the group may write it. */
const readableByAll = 0o004
const writableByOthers = 0o022

/** Files with secrets that other users of the machine can read or replace. Windows has no such modes. */
export function findInsecureFileModes(tree: ConfigTree, resolvePath: (path: string) => string): Warning[] {
  if (process.platform === 'win32') return []
  return optionLeaves(tree).flatMap(({ path, value, isSecret }): Warning[] => {
    if (!isSecret || schemaAt(path)?.isPublic || !isRecord(value) || typeof value.file !== 'string') return []
    const file = resolvePath(value.file)
    // There is none if the file does not exist yet.
    const mode = statSync(file, { throwIfNoEntry: false })?.mode
    if (mode === undefined || (mode & (readableByAll | writableByOthers)) === 0) return []
    const who = mode & writableByOthers ? 'other users can replace' : 'every user of this machine can read'
    const shown = (mode & 0o777).toString(8).padStart(4, '0')
    return [{ path, message: `${who} ${file} (mode ${shown})`, hint: `chmod 600 ${file}` }]
  })
}

/** An option without options below it. */
interface OptionLeaf {
  readonly path: Path
  readonly value: unknown
  /** Whether it refers to a secret, or looks like one that was written as text. */
  readonly isSecret: boolean
}

/** Every option with a value: a reference to a secret is one, and so is a list of texts or numbers. */
export function optionLeaves(value: unknown, path: Path = []): readonly OptionLeaf[] {
  if (holdsSecret(value, path)) return [{ path, value, isSecret: true }]
  if (isRecord(value) && Object.keys(value).length > 0) {
    return Object.entries(value).flatMap(([name, member]) => optionLeaves(member, [...path, name]))
  }
  if (Array.isArray(value) && value.some((member) => typeof member === 'object')) {
    return value.flatMap((member, index) => optionLeaves(member, [...path, index]))
  }
  return [{ path, value, isSecret: false }]
}

/** For an option that accepts either a reference or a text, the value decides. */
function holdsSecret(value: unknown, path: Path): boolean {
  const schema = schemaAt(path)
  const acceptsSecret = schema?.secret === true || schema?.anyOf?.some(({ secret }) => secret) === true
  if (!acceptsSecret) return false
  return typeof value === 'string' ? isCredentialField(String(path.at(-1)), value) : isRecord(value)
}

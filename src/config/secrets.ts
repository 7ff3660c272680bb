import { join } from 'node:path'
import { errorMessage, hasErrorCode } from '#platform/errors/operator-error.ts'
import { readAtMost } from '#platform/files.ts'
import type { SecretReference, SecretResult } from './schema/node.ts'

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

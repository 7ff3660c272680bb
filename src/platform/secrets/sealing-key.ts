import { randomBytes, randomUUID } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from '../errors/operator-error.ts'
import { makeFolder } from '../folder.ts'
import { errorMessage, hasErrorCode } from '../system-error.ts'
import type { Keys } from './key-source.ts'
import { acceptedKeys, parseSealingKeys, type SealingKeySet, sealingKeyBytes } from './sealing-key-set.ts'

/** The text of the sealing keys, or their file, which may have to be created first. */
export type SealingKeySource =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'file'; readonly file: string }

/**
 * Reads the sealing keys, and creates their file if there is none and `mayCreate` allows it.
 * @throws OperatorError where they cannot be read or created, or are invalid
 */
export function readSealingKeys(
  source: SealingKeySource,
  { mayCreate }: { readonly mayCreate: boolean },
): SealingKeySet {
  const text = source.kind === 'value' ? source.value : readOrCreate(source.file, mayCreate)
  const keys = parseSealingKeys(text)
  if (keys) return keys
  const place = source.kind === 'file' ? ` in ${source.file}` : ''
  throw new OperatorError(`the sealing key${place} is not 32 bytes in base64 or hexadecimal`, {
    hint: 'Restore the previous key: data sealed with it cannot be read with any other.',
  })
}

/** The sealing keys of a process, which it may read again. */
export interface OpenSealingKeys {
  /** All that are accepted now, the current one first. */
  readonly keys: () => Keys
  /**
   * Reads them again.
   * @returns what puts them into use
   * @throws OperatorError as `readSealingKeys`, and where the key that seals now would not be accepted any more
   */
  reread(source: SealingKeySource): () => void
}

/** @throws OperatorError as `readSealingKeys` */
export function openSealingKeys(
  source: SealingKeySource,
  options: { readonly mayCreate: boolean },
): OpenSealingKeys {
  let accepted = acceptedKeys(readSealingKeys(source, options))
  return {
    keys: () => accepted,
    reread: (from) => {
      const next = acceptedKeys(readSealingKeys(from, { mayCreate: false }))
      if (next.some((key) => Buffer.compare(key, accepted[0]) === 0)) {
        return () => {
          accepted = next
        }
      }
      throw new OperatorError(
        'the sealing key was replaced, and the one that seals now is not kept beside it',
        {
          hint: 'Restore it, and replace it by: gatehouse sealing-key rotate',
        },
      )
    },
  }
}

export function createSealingKey(): Buffer {
  return randomBytes(sealingKeyBytes)
}

function readOrCreate(file: string, mayCreate: boolean): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if (hasErrorCode(cause, 'ENOENT') && mayCreate) return createKeyFile(file)
    throw new OperatorError(`cannot read the sealing key ${file}: ${errorMessage(cause)}`, {
      hint: 'All instances share one; create it with: openssl rand -base64 32',
      cause,
    })
  }
}

/** Writes a temporary file and links it into place: two processes that start at once agree on one key. */
function createKeyFile(file: string): string {
  // Random, not the process ID, which can be the same in two containers that share a volume.
  const temporaryFile = `${file}.${randomUUID()}`
  try {
    makeFolder(dirname(file))
    writeFileSync(temporaryFile, `${createSealingKey().toString('base64')}\n`, {
      mode: 0o600,
      flush: true,
    })
    linkIfAbsent(temporaryFile, file)
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new OperatorError(`cannot create the sealing key ${file}: ${errorMessage(cause)}`, {
      hint: 'Its directory must be writable; see keys.sealingKey in the config.',
      cause,
    })
  } finally {
    rmSync(temporaryFile, { force: true })
  }
}

function linkIfAbsent(draft: string, file: string): void {
  try {
    linkSync(draft, file)
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error
  }
}

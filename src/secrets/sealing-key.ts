import { randomBytes, randomUUID } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from '../errors/operator-error.ts'
import { makeFolder } from '../platform/folder.ts'
import { errorMessage, hasErrorCode } from '../platform/system-error.ts'

/** Bytes of a sealing key: AES-256. */
const sealingKeyBytes = 32

/** The text of a sealing key, or its file, which may have to be created first. */
export type SealingKeySource =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'file'; readonly file: string }

/** A sealing key from its text, base64, base64url or hexadecimal; undefined where it is not 32 bytes. */
export function parseSealingKey(text: string): Buffer | undefined {
  const trimmed = text.trim()
  const isHex = /^[0-9A-Fa-f]{64}$/.test(trimmed)
  if (!isHex && !/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return undefined
  const key = Buffer.from(trimmed, isHex ? 'hex' : 'base64')
  return key.length === sealingKeyBytes ? key : undefined
}

/**
 * Reads the sealing key, and creates its file if there is none and `mayCreate` allows it.
 * @throws OperatorError where the key cannot be read or created, or is invalid
 */
export function openSealingKey(
  source: SealingKeySource,
  { mayCreate }: { readonly mayCreate: boolean },
): Buffer {
  const text = source.kind === 'value' ? source.value : readOrCreate(source.file, mayCreate)
  const key = parseSealingKey(text)
  if (key) return key
  const place = source.kind === 'file' ? ` in ${source.file}` : ''
  throw new OperatorError(`the sealing key${place} is not 32 bytes in base64 or hexadecimal`, {
    hint: 'Restore the previous key: data sealed with it cannot be read with any other.',
  })
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
    writeFileSync(temporaryFile, `${randomBytes(sealingKeyBytes).toString('base64')}\n`, {
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

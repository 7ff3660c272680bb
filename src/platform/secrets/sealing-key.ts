import { randomBytes, randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { errorMessage, hasErrorCode, OperatorError } from '../errors/operator-error.ts'
import { makeFolder } from '../files.ts'
import { formatDay, parseDay } from '../time.ts'
import type { Keys } from './sealing.ts'

/** The text of the sealing keys, or their file, which may have to be created first. */
export type SealingKeySource =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'file'; readonly file: string }

/**
 * Reads the sealing keys, and creates their file if there is none and `mayCreate` allows it.
 * @throws OperatorError if they cannot be read or created, or are invalid
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

/** The sealing keys of a process, which can be read again. */
export interface SealingKeys {
  /** All keys that are accepted now, the current one first. */
  readonly keys: () => Keys
  /**
   * Reads them again.
   * @returns a function that puts them into use
   * @throws OperatorError as `readSealingKeys`, and if the key that seals now would no longer be accepted
   */
  reread(source: SealingKeySource): () => void
}

/** @throws OperatorError as `readSealingKeys` */
export function createSealingKeys(
  source: SealingKeySource,
  options: { readonly mayCreate: boolean },
): SealingKeys {
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
        'the sealing key was replaced, and its file does not hold the key that seals now',
        {
          hint: 'Restore that key, and replace it with: gatehouse sealing-key rotate',
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
      hint: 'Restore it: all instances share one. For a new store create it with: openssl rand -base64 32',
      cause,
    })
  }
}

/**
 * Writes a temporary file and links it into place, so that two processes that start at the same time agree on one key.
 */
function createKeyFile(file: string): string {
  // Random, as two containers that share a volume can have the same process ID.
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

/** Bytes of a sealing key: AES-256. */
const sealingKeyBytes = 32

/** The sealing keys of a file or secret: one, and during a rotation a second that is accepted too. */
export interface SealingKeySet {
  /** The key that seals. */
  readonly current: Buffer
  /** The key that will seal once every instance knows it. */
  readonly next: Buffer | undefined
  /** The key that sealed before. */
  readonly previous: PreviousSealingKey | undefined
}

interface PreviousSealingKey {
  readonly key: Buffer
  /** The UTC day on which it was replaced, in days since 1970. */
  readonly since: number
}

/** A sealing key from its text, in base64, base64url or hexadecimal; undefined if it is not 32 bytes. */
export function parseSealingKey(text: string): Buffer | undefined {
  const trimmed = text.trim()
  const isHex = /^[0-9A-Fa-f]{64}$/.test(trimmed)
  if (!isHex && !/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return undefined
  const key = Buffer.from(trimmed, isHex ? 'hex' : 'base64')
  return key.length === sealingKeyBytes ? key : undefined
}

/**
 * The keys in a text: the current one in the first line, and optionally a second line, `KEY next` or `KEY previous
 * 2026-11-23`. undefined if it is anything else.
 */
export function parseSealingKeys(text: string): SealingKeySet | undefined {
  const [first = '', second, ...rest] = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const current = parseSealingKey(first)
  if (!current || rest.length > 0) return undefined
  if (second === undefined) return { current, next: undefined, previous: undefined }
  const [keyText = '', role, day = '', ...more] = second.split(/\s+/)
  const key = parseSealingKey(keyText)
  if (!key || key.equals(current) || more.length > 0) return undefined
  if (role === 'next' && day === '') return { current, next: key, previous: undefined }
  const since = parseDay(day)
  if (role !== 'previous' || since === undefined) return undefined
  return { current, next: undefined, previous: { key, since } }
}

/** The text that `parseSealingKeys` reads. */
export function formatSealingKeys({ current, next, previous }: SealingKeySet): string {
  const lines = [current.toString('base64')]
  if (next) lines.push(`${next.toString('base64')} next`)
  if (previous) lines.push(`${previous.key.toString('base64')} previous ${formatDay(previous.since)}`)
  return `${lines.join('\n')}\n`
}

/** All accepted keys, the current one first. */
export function acceptedKeys({ current, next, previous }: SealingKeySet): Keys {
  return [current, ...(next ? [next] : []), ...(previous ? [previous.key] : [])]
}

/**
 * Replaces the content of a sealing key file atomically: whoever reads it, and a machine that loses power, has the old
 * or the new keys. The file keeps its owner and group, and others never get access.
 * @throws OperatorError if it cannot be written; it is then unchanged
 */
export function replaceSealingKeys(file: string, keys: SealingKeySet): void {
  let temporaryFile: string | undefined
  try {
    const target = realpathSync(file)
    const { uid, gid, mode } = statSync(target)
    temporaryFile = `${target}.${randomUUID()}`
    writeFileSync(temporaryFile, formatSealingKeys(keys), { mode: 0o600, flush: true })
    const own = statSync(temporaryFile)
    if (own.uid !== uid || own.gid !== gid) chownSync(temporaryFile, uid, gid)
    if ((mode & 0o040) !== 0) chmodSync(temporaryFile, 0o640)
    renameSync(temporaryFile, target)
    syncFolder(dirname(target))
  } catch (cause) {
    if (temporaryFile !== undefined) rmSync(temporaryFile, { force: true })
    throw new OperatorError(`cannot replace the sealing key ${file}: ${errorMessage(cause)}`, {
      hint: 'If it is mounted or managed elsewhere: gatehouse sealing-key rotate --print',
      cause,
    })
  }
}

/** A rename is durable only once its folder is synced. Windows cannot open folders. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

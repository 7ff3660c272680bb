import { createHash } from 'node:crypto'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import type { Line } from '#platform/files.ts'
import { parseJsonObject } from '#platform/json.ts'
import {
  accountOf,
  type BackupRecord,
  badFieldOf,
  type RecordKind,
  recordFields,
  type StoreRecord,
} from './records.ts'

/**
 * A backup as a file: JSON lines in UTF-8. The first line says which format it has, and the last one how many records
 * are in between, and the SHA-256 of all bytes before itself; a file without it is incomplete.
 */
export const backupFormat = 1

/** The first line. */
interface BackupHead {
  readonly backup: 'gatehouse'
  readonly format: number
  /** The version that wrote it, for people. */
  readonly version: string
  /** When it began, as ISO 8601. */
  readonly at: string
  readonly driver: string
}

/** The last line. */
interface BackupEnd {
  readonly end: true
  readonly records: number
  /** In hex. */
  readonly sha256: string
}

export interface WrittenBackup extends Omit<BackupEnd, 'end'> {
  readonly bytes: number
  /** How many accounts there were. */
  readonly accounts: number
}

/** Far above any record: the largest is an account with its keys. */
export const backupLineBytesMax = 64 * 1_048_576

/**
 * The text of a backup, batch by batch; resolves with what was written.
 * @throws OperatorError where a record is damaged; what the batches throw
 */
export async function* formatBackup(
  head: Omit<BackupHead, 'backup' | 'format'>,
  batches: AsyncIterable<readonly BackupRecord[]>,
  onProgress: (accounts: number) => void,
): AsyncGenerator<string, WrittenBackup> {
  const hash = createHash('sha256')
  let [records, accounts, bytes] = [0, 0, 0]

  function add(lines: readonly object[]): string {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    hash.update(text)
    bytes += Buffer.byteLength(text)
    return text
  }

  yield add([{ backup: 'gatehouse', format: backupFormat, ...head } satisfies BackupHead])
  for await (const batch of batches) {
    records += batch.length
    for (const record of batch) {
      if (record.kind === 'account') accounts++
      assertWhole(record)
    }
    onProgress(accounts)
    if (batch.length > 0) yield add(batch)
  }
  const end = { end: true, records, sha256: hash.digest('hex') } as const satisfies BackupEnd
  const last = `${JSON.stringify(end)}\n`
  yield last
  return { records, accounts, bytes: bytes + last.length, sha256: end.sha256 }
}

/** Throws, as no backup is better than one that cannot be restored. */
function assertWhole(record: BackupRecord): void {
  const field = badFieldOf(record.kind, record)
  if (field === undefined) return
  throw new OperatorError(
    `a record of the store is damaged: ${field} of a ${record.kind} is missing or invalid`,
  )
}

/** Where a backup is read from. */
interface BackupSource {
  /** Its name in messages. */
  readonly name: string
  lines(): AsyncIterable<readonly Line[]>
}

/** A record and its line in the file, from 1. */
interface RecordLine {
  readonly line: number
  readonly record: BackupRecord
}

/**
 * The records of a backup. They must not be used before all have been read, as only the end shows whether they are
 * intact.
 * @throws OperatorError if the file is not a backup, of a later format, damaged, or incomplete
 */
async function* readBackup(source: BackupSource): AsyncGenerator<readonly RecordLine[]> {
  const hash = createHash('sha256')
  let records = 0
  let end: BackupEnd | undefined

  function read({ line, text, problem }: Line): RecordLine[] {
    if (problem !== undefined) throw damaged(source, `line ${line} ${problem}`)
    if (end) throw damaged(source, `line ${line} comes after its end`)
    const value = parseJsonObject(text)
    if (line === 1) assertHead(source, value)
    else if (isEnd(value)) {
      end = value
      return []
    }
    hash.update(text).update('\n')
    if (line === 1) return []
    records++
    return [{ line, record: toRecord(source, line, value) }]
  }

  for await (const lines of source.lines()) yield lines.flatMap(read)
  if (!end) throw damaged(source, 'its end is missing, so it is not complete')
  if (end.records !== records) throw damaged(source, `it has ${records} records instead of ${end.records}`)
  if (end.sha256 !== hash.digest('hex')) throw damaged(source, 'its checksum is wrong')
}

type Value = Readonly<Record<string, unknown>>

function assertHead({ name }: BackupSource, head: Value | undefined): void {
  if (head?.backup !== 'gatehouse' || typeof head.format !== 'number') {
    throw new OperatorError(`${name} is not a backup of Gatehouse`, {
      hint: 'It is made by: gatehouse store backup FILE',
    })
  }
  if (head.format <= backupFormat) return
  throw new OperatorError(
    `${name} was made by a newer version of Gatehouse (format ${head.format}; this version reads up to ${backupFormat})`,
    { hint: `Restore it with that version${typeof head.version === 'string' ? `, ${head.version}` : ''}.` },
  )
}

function isEnd(value: Value | undefined): value is Value & BackupEnd {
  return value?.end === true
}

function toRecord(source: BackupSource, line: number, value: Value | undefined): BackupRecord {
  const kind = value?.kind
  if (value === undefined || !isKind(kind)) throw damaged(source, `line ${line} is not a record`)
  const field = badFieldOf(kind, value)
  if (field !== undefined)
    throw damaged(source, `line ${line} is not a valid ${kind}: ${field} is missing or invalid`)
  // The cast is sound: all fields have been checked.
  const record = value as unknown as BackupRecord
  if (record.kind === 'account' || record.kind === 'changed') {
    try {
      accountOf({ ...record, kind: 'account' })
    } catch (error) {
      throw damaged(source, `line ${line} is not a valid account: ${errorMessage(error)}`)
    }
  }
  return record
}

function isKind(kind: unknown): kind is RecordKind {
  return typeof kind === 'string' && Object.hasOwn(recordFields, kind)
}

function damaged({ name }: BackupSource, what: string): OperatorError {
  return new OperatorError(`${name} is damaged: ${what}; nothing was restored`, {
    hint: 'Take another backup, or fetch this one again.',
  })
}

/** A backup that was read completely and is intact. */
export interface CheckedBackup {
  /** How many accounts it has. */
  readonly accounts: number
  /**
   * What has to be restored: the last state of each account, without accounts that were deleted.
   * @throws as `readBackup`, as the file may have been changed since
   */
  records(): AsyncGenerator<readonly StoreRecord[]>
}

/**
 * Reads a backup, and only remembers which accounts have changed while it was taken.
 * @param onProgress called with how many accounts were read
 * @throws as `readBackup`
 */
export async function checkBackup(
  source: BackupSource,
  onProgress: (accounts: number) => void,
): Promise<CheckedBackup> {
  /** The line of the last record of each account that has changed. */
  const lastLines = new Map<string, number>()
  const gone = new Set<string>()
  let accounts = 0
  for await (const batch of readBackup(source)) {
    for (const { line, record } of batch) {
      if (record.kind === 'account') accounts++
      if (record.kind === 'changed' || record.kind === 'gone') lastLines.set(record.id, line)
      if (record.kind === 'gone') gone.add(record.id)
    }
    onProgress(accounts)
  }

  /** @returns nothing if a later record of the account counts, or it was deleted */
  function toRestore({ line, record }: RecordLine): readonly StoreRecord[] {
    switch (record.kind) {
      case 'account':
        return lastLines.has(record.id) ? [] : [record]
      case 'changed':
        return lastLines.get(record.id) === line ? [{ ...record, kind: 'account' }] : []
      case 'gone':
        return []
      default:
        return 'accountId' in record && gone.has(record.accountId) ? [] : [record]
    }
  }

  return {
    accounts: accounts - gone.size,
    records: async function* () {
      for await (const batch of readBackup(source)) yield batch.flatMap(toRestore)
    },
  }
}

import { type EpochMs, parseTime } from '#platform/time.ts'
import { createRecordReader, type RecordReader, textsIn } from './import-records.ts'
import {
  digestRule,
  findKeyErrors,
  parseDigest,
  parseQuota,
  quotaRule,
  type SecretKeyInput,
} from './keys/input.ts'

/** A line of a file of keys that were made elsewhere. */
export interface ImportedKeyLine {
  /** ID or e-mail. */
  readonly account: string
  /** SHA-256 of the key. */
  readonly digest: Uint8Array
  readonly input: SecretKeyInput
}

const requiredKeyFields = ['account', 'digest', 'name'] as const
const keyFields = [...requiredKeyFields, 'expires', 'scopes', 'quota'] as const

/** Reads keys that were made elsewhere. */
export function createKeyLineReader(now: EpochMs): RecordReader<ImportedKeyLine> {
  return createRecordReader({
    parse: (values) => parseKeyLine(values, now),
    findHeaderError: findKeyHeaderError,
  })
}

function findKeyHeaderError(names: readonly string[]): string | undefined {
  const unknown = names.find((name) => !keyFields.some((field) => field === name))
  const isComplete =
    requiredKeyFields.every((name) => names.includes(name)) && new Set(names).size === names.length
  if (isComplete && unknown === undefined) return undefined
  return 'the header must name account, digest and name, each once, and may name expires, scopes and quota'
}

function parseKeyLine(values: Readonly<Record<string, unknown>>, now: EpochMs): ImportedKeyLine | string {
  const errors: string[] = []
  const texts = textsIn(values, { names: keyFields, fields: keyFields, errors })
  const { account, digest: digestText, name, expires, scopes } = texts
  if (account === '') errors.push('account: must be the ID or e-mail of an account')
  const digest = parseDigest(digestText)
  if (!digest) errors.push(`digest: ${digestRule}; it has ${digestText.length} characters`)
  const expiresAt = parseTime(expires)
  if (expires !== '' && expiresAt === undefined)
    errors.push('expires: must be a time such as 2027-01-31T00:00:00Z, or empty')
  const quota = parseQuota(texts.quota)
  if (texts.quota !== '' && quota === undefined) errors.push(`quota: ${quotaRule}`)
  const input = { name, scopes: scopes.split(' ').filter(Boolean), addresses: [], quota, expiresAt }
  for (const { field, message } of findKeyErrors(input, now))
    errors.push(`${field === 'expiresAt' ? 'expires' : field}: ${message}`)
  return errors.length > 0 || !digest ? errors.join('; ') : { account, digest, input }
}

import { parseTime } from '#platform/time.ts'
import { findKeyErrors, parseQuota, quotaRule, type SecretKeyInput } from '../keys/input.ts'
import { createRecordReader, type RecordReader, textsIn } from './record-reader.ts'

/** A line of a file of keys that were made elsewhere. */
export interface ImportedKeyLine {
  /** ID or e-mail. */
  readonly account: string
  /** SHA-256 of the key. */
  readonly digest: Uint8Array
  readonly input: SecretKeyInput
}

const required = ['account', 'digest', 'name'] as const
const fields = [...required, 'expires', 'scopes', 'quota'] as const
export const digestRule = 'must be a SHA-256, 64 hexadecimal digits or 43 characters of base64'
const hex = /^[0-9a-f]{64}$/i
const base64 = /^[\w+/-]{43}=?$/

/** Reads keys that were made elsewhere. */
export function createKeyLineReader(now: number): RecordReader<ImportedKeyLine> {
  return createRecordReader({ parse: (values) => parseKeyLine(values, now), findHeaderError })
}

function findHeaderError(names: readonly string[]): string | undefined {
  const unknown = names.find((name) => !fields.some((field) => field === name))
  const isComplete = required.every((name) => names.includes(name)) && new Set(names).size === names.length
  if (isComplete && unknown === undefined) return undefined
  return 'the header must name account, digest and name, each once, and may name expires, scopes and quota'
}

function parseKeyLine(values: Readonly<Record<string, unknown>>, now: number): ImportedKeyLine | string {
  const errors: string[] = []
  const texts = textsIn(values, { names: fields, fields, errors })
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

/** A SHA-256: 64 hexadecimal digits, or base64. */
export function parseDigest(text: string): Uint8Array | undefined {
  if (hex.test(text)) return Buffer.from(text, 'hex')
  return base64.test(text) ? Buffer.from(text, 'base64') : undefined
}

import { emailKey } from '../email-key.ts'
import type { Account, NewSession, Session, StoredKey, StoredSigningKey } from '../store.ts'

/** How records are written as fields of a hash: all of them text, bytes in base64url. */

type Fields = Readonly<Record<string, string>>

/** Name, value, name, value: what HSET takes, as a JSON list for a script. */
export function accountFields(account: Account): string {
  const { secretKey, previousSecretKey, apiKey } = account
  return fieldList({
    id: account.id,
    email: account.email,
    emailKey: emailKey(account.email),
    firstName: account.firstName,
    lastName: account.lastName,
    role: account.role,
    isVerified: Number(account.isVerified),
    isDisabled: Number(account.isDisabled),
    createdAt: account.createdAt,
    revision: account.revision,
    sessionEpoch: account.sessionEpoch,
    secretDigest: encode(secretKey.digest),
    secretSealed: encode(secretKey.sealed),
    secretCreatedAt: secretKey.createdAt,
    previousDigest: encode(previousSecretKey?.digest),
    previousUntil: previousSecretKey?.validUntil,
    apiDigest: encode(apiKey.digest),
    apiSealed: encode(apiKey.sealed),
    apiCreatedAt: apiKey.createdAt,
  })
}

export function parseAccount(fields: Fields): Account | undefined {
  const { id, previousDigest } = fields
  if (id === undefined) return undefined
  return {
    id,
    email: text(fields, 'email'),
    firstName: text(fields, 'firstName'),
    lastName: text(fields, 'lastName'),
    role: text(fields, 'role'),
    isVerified: fields.isVerified === '1',
    // Fail closed: only a plain 0 is enabled.
    isDisabled: fields.isDisabled !== '0',
    createdAt: number(fields, 'createdAt'),
    revision: number(fields, 'revision'),
    sessionEpoch: number(fields, 'sessionEpoch'),
    secretKey: parseKey(fields, 'secret'),
    previousSecretKey:
      previousDigest === undefined
        ? undefined
        : { digest: decode(previousDigest), validUntil: number(fields, 'previousUntil') },
    apiKey: parseKey(fields, 'api'),
  }
}

export function sessionFields({ id, accountId, createdAt, expiresAt }: NewSession): string {
  return fieldList({ id, accountId, createdAt, expiresAt, generation: 1, rotatedAt: createdAt })
}

export function parseSession(fields: Fields): Session | undefined {
  const { id, end } = fields
  if (id === undefined) return undefined
  return {
    id,
    accountId: text(fields, 'accountId'),
    createdAt: number(fields, 'createdAt'),
    expiresAt: number(fields, 'expiresAt'),
    generation: number(fields, 'generation'),
    rotatedAt: number(fields, 'rotatedAt'),
    sessionEpoch: number(fields, 'sessionEpoch'),
    end: end === undefined || end === 'reused' ? end : 'revoked',
  }
}

export function signingKeyText(key: StoredSigningKey): string {
  return JSON.stringify({ ...key, sealed: encode(key.sealed) })
}

export function parseSigningKey(json: string): StoredSigningKey {
  // Written by signingKeyText alone; a key that does not unseal is refused where it is opened.
  const { sealed, ...key } = JSON.parse(json) as Omit<StoredSigningKey, 'sealed'> & {
    readonly sealed: string
  }
  return { ...key, publicKey: key.publicKey, sealed: decode(sealed) }
}

function parseKey(fields: Fields, kind: 'secret' | 'api'): StoredKey {
  const sealed = fields[`${kind}Sealed`]
  return {
    digest: decode(text(fields, `${kind}Digest`)),
    sealed: sealed === undefined ? undefined : decode(sealed),
    createdAt: number(fields, `${kind}CreatedAt`),
  }
}

function fieldList(fields: Readonly<Record<string, string | number | undefined>>): string {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return JSON.stringify(present.flatMap(([name, value]) => [name, String(value)]))
}

function text(fields: Fields, name: string): string {
  return fields[name] ?? ''
}

function number(fields: Fields, name: string): number {
  return Number(fields[name] ?? 0)
}

function encode(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString('base64url')
}

function decode(encoded: string): Uint8Array {
  return Buffer.from(encoded, 'base64url')
}

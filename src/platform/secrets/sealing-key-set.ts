import { formatDay, parseDay } from '../day.ts'
import type { Keys } from './key-source.ts'

/** Bytes of a sealing key: AES-256. */
export const sealingKeyBytes = 32

/** The sealing keys of a file or secret: one, and during a rotation a second that is accepted too. */
export interface SealingKeySet {
  /** Seals. */
  readonly current: Buffer
  /** Will seal once every instance knows it. */
  readonly next: Buffer | undefined
  /** Sealed before. */
  readonly previous: PreviousSealingKey | undefined
}

interface PreviousSealingKey {
  readonly key: Buffer
  /** The day of UTC on which it was replaced, in days since 1970. */
  readonly since: number
}

/** A sealing key from its text, base64, base64url or hexadecimal; undefined where it is not 32 bytes. */
export function parseSealingKey(text: string): Buffer | undefined {
  const trimmed = text.trim()
  const isHex = /^[0-9A-Fa-f]{64}$/.test(trimmed)
  if (!isHex && !/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return undefined
  const key = Buffer.from(trimmed, isHex ? 'hex' : 'base64')
  return key.length === sealingKeyBytes ? key : undefined
}

/**
 * The keys of a text: the current one in the first line, and perhaps a second line, `KEY next` or
 * `KEY previous 2026-11-23`. undefined where it is anything else.
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

/** All that are accepted, the current one first. */
export function acceptedKeys({ current, next, previous }: SealingKeySet): Keys {
  return [current, ...(next ? [next] : []), ...(previous ? [previous.key] : [])]
}

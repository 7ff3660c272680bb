import { hash } from 'node:crypto'

const lengthMax = 64

/**
 * What a subject of a rate is remembered by: itself, or its SHA-256 where it is long. Subjects hold texts that strangers
 * choose, and a counter must cost no more for a long one.
 * @returns at most 64 characters
 */
export function rateKey(subject: string): string {
  return subject.length <= lengthMax ? subject : hash('sha256', subject, 'base64url')
}

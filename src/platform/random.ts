import { randomBytes } from 'node:crypto'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Bytes from this value on are rejected: 248 is the largest multiple of 62 that a byte can hold. */
const rejectedFrom = 248

/** A random text of letters and digits, each equally likely; 43 of them hold 256 bits. */
export function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < rejectedFrom && text.length < length) text += base62[byte % 62]
    }
  }
  return text
}

/** A number below 62^length in `length` letters and digits. */
export function toBase62(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = base62[rest % 62] + text
  return text
}

/** Bytes from hexadecimal digits, with spaces between them as one likes. */
export function hex(digits: string): Buffer {
  return Buffer.from(digits.replaceAll(/\s/g, ''), 'hex')
}

import { isNamed } from '#http/h1/raw-headers.ts'

/**
 * The values of all cookies of this name, in their order, without the white space around them. Nothing is decoded and
 * quotes stay: what is compared with them must have been set as it is. Case counts, as in browsers (RFC 6265 4.1.1).
 * @param header of one Cookie field
 */
export function cookieValues(header: string, name: string): readonly string[] {
  const values: string[] = []
  for (const pair of header.split(';')) {
    const end = pair.indexOf('=')
    if (end !== -1 && pair.slice(0, end).trim() === name) values.push(pair.slice(end + 1).trim())
  }
  return values
}

/** The same of all Cookie fields of a head. @param rawHeaders name, value, name, value, as they arrived */
export function cookieValuesIn(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (isNamed(rawHeaders[index], 'cookie')) values.push(...cookieValues(rawHeaders[index + 1] ?? '', name))
  }
  return values
}

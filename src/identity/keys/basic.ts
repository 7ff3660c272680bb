/** `Basic` before a token character is another scheme (RFC 9110 5.6.2). */
const basicPrefix = /^Basic(?![!#$%&'*+.^_`|~0-9A-Za-z-])/i
const basicCredentials = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i
/** In characters of base64: user names are ignored, but not read at any length. */
const lengthMax = 4_096

/**
 * The password of `Authorization: Basic` (RFC 7617): what follows the first colon, one character for each byte. Empty
 * where it is malformed; undefined = another scheme.
 */
export function passwordOf(authorization: string): string | undefined {
  if (!basicPrefix.test(authorization)) return undefined
  const encoded = basicCredentials.exec(authorization)?.[1]
  if (encoded === undefined || encoded.length > lengthMax) return ''
  const bytes = Buffer.from(encoded, 'base64')
  // Decoders differ about text that is not canonical: missing padding, bits that are left over.
  if (bytes.toString('base64') !== encoded) return ''
  const colon = bytes.indexOf(':')
  return colon === -1 ? '' : bytes.toString('latin1', colon + 1)
}

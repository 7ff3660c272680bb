import { keyMarks, keyPrefixPattern, oldKeyPrefixes, secretPrefixes } from './format.ts'

/** A kind of credential, as its text looks. Whether it is valid, or complete, the form does not say. */
export type SecretForm = 'secretKey' | 'apiKey' | 'refreshToken' | 'jwt'

const secretKeyStart = keyStart('secretKey')
const apiKeyStart = keyStart('apiKey')
const refreshTokenStart = `${secretPrefixes.refreshToken}_`
/** What every JWT starts with, and no key: `{"` in base64url. */
const jwtStart = 'eyJ'
/** Header, payload and signature. */
const jwtParts = 3

/** What a text looks like; undefined = like nothing that the gateway issues. */
export function formOf(text: string): SecretForm | undefined {
  if (text.startsWith(jwtStart)) return 'jwt'
  if (secretKeyStart.test(text)) return 'secretKey'
  if (apiKeyStart.test(text)) return 'apiKey'
  return text.startsWith(refreshTokenStart) ? 'refreshToken' : undefined
}

/** Whether a text looks like a key of either kind: in `Authorization: Bearer` this tells a key from a JWT. */
export function looksLikeKey(text: string): boolean {
  return !text.startsWith(jwtStart) && (secretKeyStart.test(text) || apiKeyStart.test(text))
}

/**
 * Whether a text is a JWT, valid or not. Nearly all begin as one does; some begin with white space in the header's
 * JSON. Other keys of three parts are none.
 */
export function looksLikeJwt(text: string): boolean {
  if (text.startsWith(jwtStart)) return true
  const [header = '', ...others] = text.split('.', jwtParts + 1)
  if (others.length !== jwtParts - 1) return false
  return Buffer.from(header, 'base64url').toString('latin1').trimStart().startsWith('{')
}

function keyStart(kind: keyof typeof keyMarks): RegExp {
  return new RegExp(`^(?:${oldKeyPrefixes[kind]}|${keyPrefixPattern}_${keyMarks[kind]})_`)
}

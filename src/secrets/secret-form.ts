import { keyMarks, keyPrefixPattern, oldKeyPrefixes, secretPrefixes } from './format.ts'

/** A kind of credential, as its text looks. Whether it is valid, or complete, the form does not say. */
export type SecretForm = 'secretKey' | 'apiKey' | 'refreshToken' | 'jwt'

const secretKeyStart = keyStart('secretKey')
const apiKeyStart = keyStart('apiKey')
const refreshTokenStart = `${secretPrefixes.refreshToken}_`
/** What every JWT starts with, and no key: `{"` in base64url. */
const jwtStart = 'eyJ'

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

function keyStart(kind: keyof typeof keyMarks): RegExp {
  return new RegExp(`^(?:${oldKeyPrefixes[kind]}|${keyPrefixPattern}_${keyMarks[kind]})_`)
}

import { formOf, looksLikeJwt, looksLikeKey } from './secret-form.ts'

/** How many characters an imported key has: others are not looked up. */
export const foreignKeyLength = { min: 8, max: 512 } as const

/** Whether a text can be a key that was made elsewhere: one of our form is only ever ours. */
export function isForeignKey(text: string): boolean {
  const { length } = text
  return length >= foreignKeyLength.min && length <= foreignKeyLength.max && !looksLikeKey(text)
}

/** Whether a bearer token can be such a key: it is neither a JWT nor a refresh token, which belong elsewhere. */
export function isForeignBearerKey(token: string): boolean {
  return !looksLikeJwt(token) && isForeignKey(token) && formOf(token) === undefined
}

import { scopePattern, scopesMax } from '#accounts/key-input.ts'
import type { Parameters } from './form-body.ts'
import { OAuthError } from './oauth-error.ts'

const pattern = new RegExp(scopePattern)

/** The scopes that a client asks for (RFC 6749 3.3); undefined = it names none. @throws OAuthError `invalid_scope` */
export function readScopes(parameters: Parameters): readonly string[] | undefined {
  const text = parameters.get('scope')
  if (text === undefined) return undefined
  const scopes = [...new Set(text.split(' '))]
  if (scopes.length > scopesMax || !scopes.every((scope) => pattern.test(scope)))
    throw new OAuthError(
      'invalid_scope',
      `scope must be at most ${scopesMax} names, separated by single spaces.`,
    )
  return scopes
}

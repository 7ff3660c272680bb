import type { Code } from '../errors.ts'
import type { SchemeName } from '../routes/route.ts'
import type { Principal } from './principal.ts'

/**
 * What a scheme makes of a credential. That there is none is for whoever calls it to see. `holdsUntil`: as long as
 * neither accounts nor sessions nor signing keys change it is the same until then, in milliseconds since 1970;
 * 0 = it has to be asked for each time.
 */
export type Authentication =
  | {
      readonly kind: 'authenticated'
      readonly principal: Principal
      readonly holdsUntil: number
    }
  | {
      readonly kind: 'rejected'
      readonly code: Code
      /** Nobody can have such a credential: known without a look at the store. */
      readonly isMalformed: boolean
      readonly holdsUntil: number
      /** Why, in words for the log, where there is more to say than the code says. */
      readonly reason: string | undefined
    }

/** A kind of credential. Answers at once what it can; throws or rejects only when it cannot be decided. */
export interface Scheme {
  readonly name: SchemeName
  authenticate(credential: string): Authentication | Promise<Authentication>
}

type RejectedOptions = Partial<Omit<Extract<Authentication, { readonly kind: 'rejected' }>, 'kind' | 'code'>>

export function rejected(
  code: Code,
  { isMalformed = false, holdsUntil = 0, reason }: RejectedOptions = {},
): Authentication {
  return { kind: 'rejected', code, isMalformed, holdsUntil, reason }
}

import type { Code } from '../errors.ts'
import type { SchemeName } from '../routes/route.ts'
import type { Principal } from './principal.ts'

/** What a scheme makes of a credential. That there is none is for whoever calls it to see. */
export type Authentication =
  | { readonly kind: 'authenticated'; readonly principal: Principal }
  | {
      readonly kind: 'rejected'
      readonly code: Code
      /** Nobody can have such a credential: known without a look at the store. */
      readonly isMalformed: boolean
    }

/** A kind of credential. Answers at once what it can; throws or rejects only when it cannot be decided. */
export interface Scheme {
  readonly name: SchemeName
  authenticate(credential: string): Authentication | Promise<Authentication>
  /**
   * Brings what is known up to date: to be called before somebody is refused for a role or a profile that was
   * kept. @throws GatehouseError `store-unavailable`
   */
  confirm(): Promise<void>
}

export function rejected(code: Code, { isMalformed = false } = {}): Authentication {
  return { kind: 'rejected', code, isMalformed }
}

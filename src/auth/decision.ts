import type { Code } from '../errors.ts'
import type { SchemeName } from '../routes/route.ts'
import type { Principal } from './principal.ts'

/** Who may pass: somebody, nobody in particular, or no one for a reason. */
export type Decision =
  | {
      readonly kind: 'allowed'
      readonly principal: Principal | undefined
      readonly scheme: SchemeName | undefined
      /** See Authentication. */
      readonly holdsUntil: number
    }
  | Refusal

export interface Refusal {
  readonly kind: 'refused'
  readonly code: Code
  readonly scheme: SchemeName | undefined
  /** No more than a typing error: nobody can have such a credential. */
  readonly isMalformed: boolean
  /** See Authentication. */
  readonly holdsUntil: number
  /** See Authentication. */
  readonly reason: string | undefined
}

import type { GatehouseError } from '../../errors.ts'

/** What a request has changed when it fails: none was to be changed, none can have been, or nobody knows. */
export type Effect = 'looked' | 'nothing' | 'unknown'

export interface Words {
  readonly title: string
  readonly detail: string | undefined
}

const saved: Readonly<Record<Effect, string>> = {
  looked: '',
  nothing: ' Nothing was saved.',
  // It fails half-way, or the store does not say: who is told "nothing" would do it twice.
  unknown: ' It is not certain whether what you sent was saved: look before you send it again.',
}

/** What the portal says of an error: the table speaks to programs, of credentials, roles and paths. */
export function portalWords({ code, title, detail }: GatehouseError, effect: Effect): Words {
  switch (code) {
    case 'store-unavailable':
      return {
        title: 'Out of reach at the moment',
        detail: `The portal cannot reach its data at the moment.${saved[effect]} Your keys keep working where they are known. Try again in a moment.`,
      }
    case 'role-forbidden':
      return {
        title: 'For administrators only',
        detail: 'Your account does not have the role that this page is for.',
      }
    default:
      return { title, detail }
  }
}

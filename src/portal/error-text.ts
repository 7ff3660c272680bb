import type { GatehouseError } from '../errors/gatehouse-error.ts'

/** What a failed request may have changed: it only read, it was refused before any change, or that is unknown. */
export type RequestEffect = 'read' | 'nothing' | 'unknown'

export interface ErrorText {
  readonly title: string
  readonly detail: string | undefined
}

const effectText: Readonly<Record<RequestEffect, string>> = {
  read: '',
  nothing: ' Nothing was saved.',
  // It may have failed half-way, or the store did not respond: told that nothing was saved, people would submit twice.
  unknown: ' Your change may or may not have been saved: check before you submit again.',
}

/** The portal's text for an error: the texts of the errors table are written for API clients. */
export function errorText({ code, title, detail }: GatehouseError, effect: RequestEffect): ErrorText {
  switch (code) {
    case 'store-unavailable':
      return {
        title: 'Credential store unavailable',
        detail: `The portal cannot reach the credential store.${effectText[effect]} Cached keys keep working. Try again in a moment.`,
      }
    case 'role-forbidden':
      return {
        title: 'Administrators only',
        detail: 'Your account does not have the role this page requires.',
      }
    default:
      return { title, detail }
  }
}

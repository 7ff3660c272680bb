import type { GatehouseError } from '../errors/gatehouse-error.ts'

/** What a failed request may have changed: it was only reading, it cannot have changed anything, or that is unknown. */
export type RequestEffect = 'read' | 'nothing' | 'unknown'

export interface ErrorText {
  readonly title: string
  readonly detail: string | undefined
}

const effectText: Readonly<Record<RequestEffect, string>> = {
  read: '',
  nothing: ' Nothing was saved.',
  // It may have failed half-way, or the store did not answer: after "nothing" people would do it twice.
  unknown: ' It is not certain whether what you sent was saved: check before you send it again.',
}

/** The portal's text for an error: the table of errors is written for programs. */
export function errorText({ code, title, detail }: GatehouseError, effect: RequestEffect): ErrorText {
  switch (code) {
    case 'store-unavailable':
      return {
        title: 'Out of reach at the moment',
        detail: `The portal cannot reach its data at the moment.${effectText[effect]} Your keys keep working where they are known. Try again in a moment.`,
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

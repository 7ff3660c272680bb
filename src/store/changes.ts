import type { Change } from './store.ts'

/** How many entries of the change log are kept: whoever is further behind drops all it has. */
export const changesKept = 100_000

/** How many of the last entries a start reads. */
export const changesAtStart = 10_000

/** Each gives the change to log where something has changed, and nothing where nothing has. */

export const ofAccount = (accountId: string) => (isChanged: unknown) =>
  isChanged ? ({ kind: 'account', accountId } as const) : undefined

export const ofSession = (sessionId: string) => (isChanged: unknown) =>
  isChanged ? ({ kind: 'session', sessionId } as const) : undefined

export const ofSigningKeys = (isChanged: unknown) =>
  isChanged ? ({ kind: 'signing-keys' } as const) : undefined

/** What a change is about: an account ID, a session ID, or nothing. */
export function subjectOf(change: Change): string {
  switch (change.kind) {
    case 'account':
      return change.accountId
    case 'session':
      return change.sessionId
    case 'signing-keys':
      return ''
    default:
      return change satisfies never
  }
}

/** A change as it was logged; undefined where a newer version logged what this one does not know. */
export function parseChange(kind: string, subject: string): Change | undefined {
  switch (kind) {
    case 'account':
      return { kind, accountId: subject }
    case 'session':
      return { kind, sessionId: subject }
    case 'signing-keys':
      return { kind }
    default:
      return undefined
  }
}

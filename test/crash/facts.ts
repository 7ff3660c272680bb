import type { Account } from '#store/accounts.ts'
import type { Session } from '#store/sessions.ts'
import type { Store } from '#store/store.ts'

/**
 * What should be found of a store: for each record a text that says how it is, or null where it is gone.
 * A writer reports the facts it is about to make, and again once the store has answered.
 */
export type Facts = Readonly<Record<string, string | null>>

export interface Report {
  readonly phase: 'asks' | 'answered'
  readonly facts: Facts
}

export function accountFact({ id, email, isDisabled, secretKeys, apiKey }: Account): Facts {
  const keys = [...secretKeys, apiKey].map(({ digest }) => digest)
  const digests = keys.map((digest) => Buffer.from(digest).toString('base64url'))
  return { [`account ${id}`]: [email, isDisabled, ...digests].join(' ') }
}

export function sessionFact({ id, generation, end }: Pick<Session, 'id' | 'generation' | 'end'>): Facts {
  return { [`session ${id}`]: `${generation} ${end ?? 'lives'}` }
}

/** What the store says of the records that some facts are about. */
export async function lookUp(store: Store, facts: Facts): Promise<Facts> {
  const found: [string, string | null][] = []
  for (const name of Object.keys(facts)) {
    const [kind, id = ''] = name.split(' ')
    if (kind === 'email') found.push([name, (await store.findAccountByEmail(id))?.id ?? null])
    else if (kind === 'account') {
      const account = await store.findAccount(id)
      found.push([name, account ? (accountFact(account)[name] ?? null) : null])
    } else {
      const session = await store.findSession(id)
      found.push([name, session ? (sessionFact(session)[name] ?? null) : null])
    }
  }
  return Object.fromEntries(found)
}

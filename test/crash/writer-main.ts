import { writeSync } from 'node:fs'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Account } from '#store/accounts.ts'
import { openStore, type StoreOptions } from '#store/open.ts'
import type { Store } from '#store/store.ts'
import { day, hour, newAccount, newKey, newSecretKey, newSession, now, useOf } from '../store/samples.ts'
import { accountFact, type Facts, type Report, sessionFact } from './facts.ts'
import { storeGone } from './write-until-killed.ts'

/** Writes to a store for ever and reports every step; to be killed at any moment. See writer.ts. */

/** Written at once, so that nothing that was answered is still on its way when the end comes. */
function report(phase: Report['phase'], facts: Facts): void {
  writeSync(1, `${JSON.stringify({ phase, facts } satisfies Report)}\n`)
}

async function step(facts: Facts, write: () => Promise<unknown>, expected: unknown): Promise<void> {
  report('asks', facts)
  const answer = await write()
  if (answer !== expected) throw new Error(`${JSON.stringify(facts)}: ${String(answer)}`)
  report('answered', facts)
}

function emailFact({ id, email }: Account): Facts {
  return { [`email ${email}`]: id }
}

async function write(store: Store): Promise<void> {
  const [first, second] = [newAccount(), newAccount()]
  // Many, so that there is time to be killed among them.
  const accounts = [first, second, ...Array.from({ length: 18 }, () => newAccount())]
  const created = Object.assign(
    {},
    ...accounts.flatMap((account) => [accountFact(account), emailFact(account)]),
  )
  await step(created, async () => (await store.createAccounts(accounts)).kind, 'created')

  const session = newSession(first, { expiresAt: now + day, idleMs: hour })
  const started = sessionFact({ ...session, generation: 1, end: undefined })
  await step(started, () => store.startSession(session, first), 'started')
  for (const generation of [1, 2, 3]) {
    const rotated = sessionFact({ ...session, generation: generation + 1, end: undefined })
    await step(
      rotated,
      async () => (await store.rotateSession(useOf(session, { generation }))).kind,
      'current',
    )
  }
  const ended = sessionFact({ ...session, generation: 4, end: 'revoked' })
  await step(ended, () => store.endSession(session.id, 'revoked'), true)

  const secretKey = newSecretKey()
  const reset = { ...first, secretKeys: [...first.secretKeys, secretKey] }
  await step(
    accountFact(reset),
    async () => (await store.resetSecretKey(first.id, { secretKey, graceUntil: now + day }))?.revision,
    2,
  )
  const apiKey = newKey()
  await step(
    accountFact({ ...reset, apiKey }),
    async () => (await store.resetApiKey(first.id, { apiKey }))?.revision,
    3,
  )
  const moved = { ...second, email: `moved-${second.email}`, isDisabled: true }
  await step(
    { ...accountFact(moved), ...emailFact(moved), [`email ${second.email}`]: null },
    async () => (await store.updateAccount(second.id, { email: moved.email, isDisabled: true })).kind,
    'updated',
  )
  await step(
    { [`account ${second.id}`]: null, [`email ${moved.email}`]: null },
    () => store.deleteAccount(second.id),
    'deleted',
  )
}

async function main(options: string): Promise<void> {
  // The cast is sound: it is what writer.ts was given.
  const store = await openStore(JSON.parse(options) as StoreOptions, 'command')
  await store.ready(10_000)
  try {
    for (;;) await write(store)
  } catch (error) {
    if (!(error instanceof GatehouseError) || error.code !== 'store-unavailable') throw error
    process.exit(storeGone)
  }
}

// Only if it was given a store to write to.
const [, , options] = process.argv
if (options !== undefined) await main(options)

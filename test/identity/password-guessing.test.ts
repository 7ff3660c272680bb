import t from 'tap'
import { createKnownClients } from '#identity/known-clients.ts'
import { listAudit } from '../store/portal-samples.ts'
import { openPeople, password, visitor } from './account-services.ts'

const wrong = 'a wrong password'

/** A person, and attempts to sign in as them: each stranger from an address of its own. */
async function openAttempts(t: Parameters<typeof openPeople>[0]) {
  const people = openPeople(t)
  const person = await people.createPerson()
  let addresses = 0
  async function attempt(tried: string, clientTokens: readonly string[] = []): Promise<string> {
    const from = { ...visitor, address: `2001:db8:0:${(++addresses).toString(16)}::1` }
    const attempted = people.signIn.signIn({ email: person.email, password: tried, clientTokens }, from)
    return attempted.then(
      () => 'in',
      (error: { readonly code: string }) => error.code,
    )
  }
  async function guess(times: number, clientTokens: readonly string[] = []): Promise<void> {
    for (let count = 0; count < times; count++) await attempt(wrong, clientTokens)
  }
  const failures = async () => (await people.store.findAccount(person.id))?.portal.failures?.total ?? 0
  return { ...people, person, attempt, guess, failures }
}

t.test('after 80 consecutive wrong passwords an unknown browser cannot sign in at all', async (t) => {
  const { attempt, guess, failures } = await openAttempts(t)
  await guess(79)
  t.equal(await attempt(password), 'in', 'before the limit')
  t.equal(await failures(), 79, 'a stranger with the right password takes none of the failures back')
  await guess(1)
  t.equal(await attempt(password), 'too-many-failures', 'at the limit')
  await guess(200)
  t.equal(await attempt(password), 'too-many-failures', 'far over')
  t.equal(await failures(), 80, 'what is not checked is not counted')
})

t.test('a known browser signs in whatever strangers guess, and resets their count', async (t) => {
  const { person, attempt, guess, failures } = await openAttempts(t)
  const known = [person.signedIn.clientToken]
  await guess(150)
  t.equal(await attempt(password, known), 'in')
  t.equal(await failures(), 0)
  t.equal(await attempt(password), 'in')
})

t.test('a known browser has ten attempts, and an account a hundred consecutive ones at most', async (t) => {
  const { person, signIn, attempt, guess, failures } = await openAttempts(t)
  const first = [person.signedIn.clientToken]
  const tokens = [first]
  for (const _ of [1, 2, 3]) {
    const { clientToken } = await signIn.signIn({ email: person.email, password }, visitor)
    tokens.push([clientToken])
  }
  await guess(9, first)
  t.equal(await attempt(password, first), 'in', 'at its limit')
  await guess(80)
  await guess(10, first)
  t.equal(await attempt(password, first), 'too-many-failures', 'one over')
  t.equal(await failures(), 90)
  for (const known of tokens.slice(1)) await guess(50, known)
  t.equal(await failures(), 100, 'far over')
})

t.test('a new password by a set-up link resets the count of wrong passwords', async (t) => {
  const { person, signIn, acts, attempt, guess } = await openAttempts(t)
  await guess(80)
  t.equal(await attempt(password), 'too-many-failures')
  const { token } = await acts.setupLinks.create(person.id)
  await signIn.redeemLink({ token, password: 'another password of hers' }, visitor)
  t.equal(await attempt('another password of hers'), 'in')
})

t.test('simultaneous guesses are limited like consecutive ones', async (t) => {
  const { guess, failures } = await openAttempts(t)
  await guess(75)
  await Promise.all(Array.from({ length: 40 }, () => guess(1)))
  t.ok((await failures()) <= 80)
})

t.test('an unknown e-mail is refused after as many attempts, with the same text', async (t) => {
  const { signIn, person } = await openAttempts(t)
  const answers = new Map<string, Set<string>>()
  for (const email of [person.email, 'nobody@example.com']) {
    const said = new Set<string>()
    for (let count = 0; count < 85; count++) {
      const from = { ...visitor, address: `10.1.${count}.1` }
      const error = await signIn.signIn({ email, password: wrong }, from).catch((thrown: Error) => thrown)
      said.add(`${count < 80} ${error instanceof Error ? error.message : 'in'}`)
    }
    answers.set(email, said)
  }
  t.equal(answers.get(person.email)?.size, 2)
  t.strictSame(answers.get('nobody@example.com'), answers.get(person.email))
})

t.test('failed sign-ins are in the audit log, with few entries for many guesses', async (t) => {
  const { store, guess, person } = await openAttempts(t)
  await guess(300)
  const entries = (await listAudit(store, { before: undefined, limit: 500 })).filter(
    ({ action }) => action === 'sign-in-failed',
  )
  t.strictSame(
    entries.map(({ details }) => details.inARow).toSorted((one, other) => Number(one) - Number(other)),
    [1, 2, 5, 10, 20, 40, 80],
  )
  t.match(entries[0], { target: { id: person.id }, details: { isKnownClient: false } })
})

t.test('a browser token of another account or key does not make a browser known', async (t) => {
  const clients = createKnownClients(Buffer.alloc(32, 1))
  const token = clients.issue('a', undefined)
  t.ok(clients.find('a', ['', token]))
  t.equal(clients.find('b', [token]), undefined)
  t.equal(createKnownClients(Buffer.alloc(32, 2)).find('a', [token]), undefined)
  const spoilt = [`${token}x`, token.slice(1), token.replace('.', '~'), '', 'x'.repeat(100_000)]
  t.equal(clients.find('a', spoilt), undefined)
  t.equal(clients.issue('a', clients.find('a', [token])), token, 'a known browser stays the same')
})

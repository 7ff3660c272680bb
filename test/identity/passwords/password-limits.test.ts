import t from 'tap'
import { createKnownClients } from '#identity/portal/portal-sessions.ts'
import { listAudit } from '../../store/portal-samples.ts'
import { openPeople, password, visitor } from '../account-services.ts'

const limit = 4
const wrong = 'wrong password'

/** The codes of attempts, one after the other. */
async function codesOf(attempts: readonly (() => Promise<unknown>)[]): Promise<readonly string[]> {
  const codes: string[] = []
  for (const attempt of attempts) {
    const error = await attempt().catch((error: unknown) => error)
    codes.push(error instanceof Error && 'code' in error ? String(error.code) : 'in')
  }
  return codes
}

t.test('wrong passwords are limited by client address, right ones are not counted', async (t) => {
  const { signIn, createPerson } = openPeople(t, { failureLimit: limit })
  const { email } = await createPerson()
  const attempt = (tried: string) => () => signIn.signIn({ email, password: tried }, visitor)
  const failures = Array.from({ length: limit + 2 }, () => attempt(wrong))
  t.strictSame(await codesOf(failures), [
    ...Array.from({ length: limit }, () => 'credentials-invalid'),
    'too-many-failures',
    'too-many-failures',
  ])
  t.strictSame(await codesOf([attempt(password)]), ['in'])
})

t.test('an address over its guesses for an e-mail is refused even the right password', async (t) => {
  const { signIn, time, createPerson } = openPeople(t, { failureLimit: limit })
  const { email } = await createPerson()
  const attempt =
    (tried: string, from = visitor) =>
    () =>
      signIn.signIn({ email, password: tried }, from)
  await codesOf(Array.from({ length: 3 * limit - 1 }, () => attempt(wrong)))
  t.strictSame(await codesOf([attempt(password)]), ['in'], 'at the limit')
  t.strictSame(await codesOf([attempt(password), attempt(wrong)]), ['too-many-failures', 'too-many-failures'])
  await codesOf(Array.from({ length: 100 }, () => attempt(wrong)))
  t.strictSame(await codesOf([attempt(password)]), ['too-many-failures'], 'far over')
  const elsewhere = { ...visitor, address: '198.51.100.1' }
  t.strictSame(await codesOf([attempt(password, elsewhere)]), ['in'], 'from elsewhere')
  time.now += 60_000
  t.strictSame(await codesOf([attempt(password)]), ['in'], 'a while later')
})

t.test('guesses for unknown e-mails are limited like any', async (t) => {
  const { signIn } = openPeople(t, { failureLimit: limit })
  const attempt = () => signIn.signIn({ email: 'nobody@example.com', password: wrong }, visitor)
  const codes = await codesOf(Array.from({ length: limit + 1 }, () => attempt))
  t.strictSame(codes.at(-1), 'too-many-failures')
})

t.test('a password that confirms an action is limited like one that signs in', async (t) => {
  const { signIn, createPerson } = openPeople(t, { failureLimit: limit })
  const { signedIn } = await createPerson()
  const confirm = (tried: string) => () => signIn.confirm(signedIn, tried, visitor)
  t.strictSame(await codesOf([confirm(password), confirm(wrong)]), ['in', 'credentials-invalid'])
  await codesOf(Array.from({ length: 3 * limit }, () => confirm(wrong)))
  t.strictSame(await codesOf([confirm(password)]), ['too-many-failures'])
  await t.rejects(confirm(password)(), {
    message: 'too-many-failures: Too many attempts with this e-mail from this address.',
  })
})

const wrongGuess = 'a wrongGuess password'

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
    for (let count = 0; count < times; count++) await attempt(wrongGuess, clientTokens)
  }
  const failures = async () => (await people.store.findAccount(person.id))?.portal.failures?.total ?? 0
  return { ...people, person, attempt, guess, failures }
}

t.test('after 80 consecutive wrongGuess passwords an unknown browser cannot sign in at all', async (t) => {
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

t.test('a new password by a set-up link resets the count of wrongGuess passwords', async (t) => {
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
      const error = await signIn
        .signIn({ email, password: wrongGuess }, from)
        .catch((thrown: Error) => thrown)
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

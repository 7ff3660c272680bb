import t from 'tap'
import { openPeople, password, visitor } from './account-services.ts'

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

import t from 'tap'
import { withoutPasswords } from '#identity/passwords/without-passwords.ts'
import { openPeople, password, visitor } from '../account-services.ts'

t.test('where passwords are not accepted none signs in, confirms or can be set', async (t) => {
  const { signIn: withThem, acts, store, createPerson } = openPeople(t)
  const { id, email, signedIn } = await createPerson()
  const { token } = await acts.setupLinks.create(id)
  const resets = { canSend: true, linkLifetimeMs: 1, request: async () => {} }
  const { signIn, passwordResets } = withoutPasswords({ signIn: withThem, passwordResets: resets }, 'Example')
  const before = await store.findAccount(id)
  const attempts: readonly (readonly [what: string, attempt: () => Promise<unknown>])[] = [
    ['the right password', () => signIn.signIn({ email, password }, visitor)],
    ['a code', () => signIn.signInWithCode({ pending: '', code: '', clientTokens: [] }, visitor)],
    ['a link, looked at', () => signIn.links.check(token)],
    ['a link, used', () => signIn.redeemLink({ token, password: 'another password' }, visitor)],
    ['the password again', () => signIn.confirm(signedIn, password, visitor)],
    [
      'another password',
      () => signIn.changePassword(signedIn, { current: password, password: 'another password' }, visitor),
    ],
    ['a forgotten password', () => passwordResets.request(email, visitor)],
  ]
  for (const [what, attempt] of attempts)
    await t.rejects(attempt(), { code: 'sign-in-refused', detail: /sign in with Example/ }, what)
  t.equal(passwordResets.canSend, false)
  t.strictSame(await store.findAccount(id), before, 'nothing is counted, or used up')
  t.match(await signIn.find(signedIn.token, visitor), { account: { id } }, 'who is signed in stays so')
})

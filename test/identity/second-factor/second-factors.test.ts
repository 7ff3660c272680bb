import { Secret, TOTP } from 'otpauth'
import t, { type Test } from 'tap'
import {
  needsSecondFactor,
  SecondFactorNeeded,
  type SecondFactorPolicy,
  secondFactorPolicies,
} from '#identity/second-factor/second-factors.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createLinkToken } from '#platform/secrets/link-tokens.ts'
import { clocksApartMs } from '#platform/time.ts'
import type { Account } from '#store/accounts.ts'
import { noPortalAccess } from '#store/portal-access.ts'
import { listAudit } from '../../store/portal-samples.ts'
import { newAccount } from '../../store/samples.ts'
import { openPeople, password, visitor } from '../account-services.ts'

const stepMs = 30_000

/** Somebody with an authenticator app. */
async function openProtected(t: Test, options: Parameters<typeof openPeople>[1] = {}) {
  const people = openPeople(t, options)
  const { signIn, acts, time, createPerson, store } = people
  const { factors } = signIn
  const { id, email, signedIn } = await createPerson()
  const account = await acts.accounts.get(id)
  const { secret, uri } = factors.propose(account)
  const codeAt = (timestamp: number) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp })
  const given = (code: string) => ({ code, visitor, client: undefined })
  const recoveryCodes = await factors.enable(account, { ...given(codeAt(time.now)), secret })
  time.now += stepMs

  const current = (): Promise<Account> => acts.accounts.get(id)
  /** The password, up to the code. */
  const pending = (clientTokens: readonly string[] = []) =>
    pendingOf(signIn.signIn({ email, password, clientTokens }, visitor))
  const sendCode = (pending: string, code: string, clientTokens: readonly string[] = []) =>
    signIn.signInWithSecondFactor({ pending, given: code, clientTokens }, visitor)

  return {
    ...people,
    store,
    factors,
    id,
    email,
    signedIn,
    secret,
    uri,
    codeAt,
    given,
    recoveryCodes,
    current,
    pending,
    sendCode,
  }
}

/** What stands for the right password of an attempt that needs a code. */
async function pendingOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.catch((error: unknown) => error)
  if (!(error instanceof SecondFactorNeeded)) throw error
  return error.pending
}

const wrong = { code: 'request-invalid', errors: [{ field: 'code' }] }

t.test('with a second factor the password alone signs nobody in', async (t) => {
  const { signIn, pending, sendCode, codeAt, time, email, uri, store } = await openProtected(t)
  t.match(
    uri,
    /^otpauth:\/\/totp\/api\.example\.com:ada%40example\.com\?issuer=api\.example\.com&secret=[A-Z2-7]{32}&/,
  )
  const right = await pending()
  await t.rejects(sendCode(right, '000000'), wrong)
  await t.rejects(sendCode(right, ''), wrong)
  await t.rejects(sendCode('', codeAt(time.now)), { code: 'credentials-invalid' })
  t.match(await sendCode(right, codeAt(time.now)), { account: { email } })
  await t.rejects(signIn.signIn({ email, password: 'wrong' }, visitor), { code: 'credentials-invalid' })
  const entries = await listAudit(store, { before: undefined, limit: 10 })
  t.ok(entries.some(({ action }) => action === 'second-factor-enabled'))
})

t.test('codes of one step before and after pass, none of further away, and each once', async (t) => {
  const { pending, sendCode, codeAt, time } = await openProtected(t)
  time.now += 10 * stepMs
  const at = (steps: number) => codeAt(time.now + steps * stepMs)
  const signIn = async (code: string) => sendCode(await pending(), code)
  for (const steps of [-3, -2, 2, 3]) await t.rejects(signIn(at(steps)), wrong, String(steps))
  await t.resolves(signIn(at(-1)))
  await t.rejects(signIn(at(-1)), wrong, 'used')
  await t.resolves(signIn(`${at(0).slice(0, 3)} ${at(0).slice(3)}`), 'in groups')
  await t.resolves(signIn(at(1)))
  await t.rejects(signIn(at(0)), wrong, 'of an earlier step than one that was used')
})

t.test('of simultaneous uses of one code exactly one signs in', async (t) => {
  const { pending, sendCode, codeAt, time } = await openProtected(t)
  const tokens = await Promise.all([pending(), pending(), pending(), pending()])
  const attempts = await Promise.allSettled(tokens.map((token) => sendCode(token, codeAt(time.now))))
  t.equal(attempts.filter(({ status }) => status === 'fulfilled').length, 1)
})

t.test('a right password stands for five minutes, and only as long as it is the password', async (t) => {
  const { pending, sendCode, codeAt, time, signIn, acts, id } = await openProtected(t)
  const token = await pending()
  time.now += 5 * 60_000
  await t.rejects(sendCode(token, codeAt(time.now)), { code: 'credentials-invalid' })
  time.now -= 1
  await t.resolves(sendCode(token, codeAt(time.now)))
  time.now += 2 * stepMs
  const before = await pending()
  const { token: link } = await acts.setupLinks.create(id)
  t.equal(
    await signIn.redeemLink({ token: link, password: 'another password' }, visitor),
    undefined,
    'a link signs nobody in',
  )
  await t.rejects(sendCode(before, codeAt(time.now)), { code: 'credentials-invalid' })
  for (const forged of [`${before}x`, before.replace(/^./, 'x'), 'a.1.b'])
    await t.rejects(sendCode(forged, codeAt(time.now)), { code: 'credentials-invalid' })
})

t.test('wrong codes count as wrong passwords, and a right password does not make up for them', async (t) => {
  const { pending, sendCode } = await openProtected(t)
  let guesses = 0
  const guess = async () => {
    try {
      return await sendCode(await pending(), 'not a code')
    } catch (error) {
      return error instanceof GatehouseError ? error.code : 'failed'
    }
  }
  while ((await guess()) === 'request-invalid') guesses++
  t.equal(guesses, 80, 'those of strangers')
  await t.rejects(pending(), { code: 'too-many-failures' })
})

t.test('a mailbox and the old password bring no more guesses at codes', async (t) => {
  const { pending, sendCode, signIn, store, time, email, id, signedIn, current } = await openProtected(t)
  const guesses = async (times: number, token: string) => {
    for (let count = 0; count < times; count++) await t.rejects(sendCode(token, 'not a code'), wrong)
  }
  async function resetByMail(to: string) {
    const { token, digest } = createLinkToken('reset', id)
    await store.setResetLink(id, { digest, expiresAt: time.now + 60_000, sentTo: email })
    await signIn.redeemLink({ token, password: to }, visitor)
    return pendingOf(signIn.signIn({ email, password: to }, visitor))
  }
  await guesses(40, await pending())
  await guesses(39, await resetByMail('another password'))
  const viewer = { ...signedIn, account: await current() }
  await signIn.changePassword(viewer, { current: 'another password', password: 'a third password' }, visitor)
  t.equal((await current()).portal.failures?.total, 79)
  await guesses(1, await resetByMail('a fourth password'))
  await t.rejects(resetByMail('a fifth password'), { code: 'too-many-failures' })
})

t.test(
  'who has forgotten the password signs in with a new one and a code, which clears the failures',
  async (t) => {
    const { sendCode, codeAt, signIn, store, time, email, id, signedIn, current } = await openProtected(t)
    const clientTokens = [signedIn.clientToken]
    for (let count = 0; count < 3; count++)
      await t.rejects(signIn.signIn({ email, password: 'forgotten', clientTokens }, visitor), {
        code: 'credentials-invalid',
      })
    const { token, digest } = createLinkToken('reset', id)
    await store.setResetLink(id, { digest, expiresAt: time.now + 60_000, sentTo: email })
    await signIn.redeemLink({ token, password: 'another password' }, visitor)
    t.equal((await current()).portal.failures?.total, 3)
    const right = await pendingOf(
      signIn.signIn({ email, password: 'another password', clientTokens }, visitor),
    )
    t.match(await sendCode(right, codeAt(time.now), clientTokens), { account: { email } })
    t.equal((await current()).portal.failures, undefined)
  },
)

t.test('once strangers have used up their guesses no code of theirs is looked at', async (t) => {
  const { pending, sendCode, codeAt, time, store, id } = await openProtected(t)
  const early = await pending()
  for (let count = 0; count < 80; count++) await store.countPasswordAttempt(id, undefined)
  await t.rejects(sendCode(early, codeAt(time.now)), { code: 'too-many-failures' })
  await t.rejects(sendCode(early, '000000'), { code: 'too-many-failures' })
})

t.test('an address over its guesses for an e-mail is refused even the right code', async (t) => {
  const failureLimit = 4
  const { pending, sendCode, codeAt, time } = await openProtected(t, { failureLimit })
  const token = await pending()
  const codeOf = (code: string) =>
    sendCode(token, code).then(
      () => 'in',
      (error: unknown) => (error instanceof GatehouseError ? error.code : 'failed'),
    )
  for (let count = 0; count < 3 * failureLimit - 2; count++) await codeOf('000000')
  t.equal(await codeOf(codeAt(time.now)), 'in', 'at the limit')
  time.now += 1
  t.equal(await codeOf(codeAt(time.now + stepMs)), 'too-many-failures', 'one over')
})

t.test('the log says of a code beyond the limit that it was no password', async (t) => {
  const { factors, current, given } = await openProtected(t, { failureLimit: 4 })
  const account = await current()
  for (let count = 0; count < 4; count++) await t.rejects(factors.check(account, given('000000')), wrong)
  await t.rejects(factors.check(account, given('000000')), {
    code: 'too-many-failures',
    cause: { message: 'wrong code or passkey, 5 consecutive failures' },
  })
})

t.test('a code for an account that has just been deleted is wrong, not one too many', async (t) => {
  const { factors, current, given, acts, codeAt, time, id } = await openProtected(t)
  const account = await current()
  await acts.accounts.remove(id)
  await t.rejects(factors.check(account, given(codeAt(time.now))), wrong)
})

t.test('the end of all portal sessions ends sign-ins that wait for their code', async (t) => {
  const { pending, sendCode, codeAt, time, signIn, signedIn } = await openProtected(t)
  const token = await pending()
  await signIn.signOutEverywhere(signedIn, visitor)
  await t.rejects(sendCode(token, codeAt(time.now)), { code: 'credentials-invalid' })
  await t.resolves(sendCode(await pending(), codeAt(time.now)))
})

t.test('what voids the right password while its code is checked signs nobody in', async (t) => {
  const { pending, sendCode, codeAt, time, signIn, signedIn, current, id, store } = await openProtected(t)
  const voids: Readonly<Record<string, () => Promise<unknown>>> = {
    'a new password': () =>
      store.setPassword(id, { password: 'hashed', proof: undefined, endsSessions: true }),
    'the end of all sessions': () => signIn.signOutEverywhere(signedIn, visitor),
  }
  const { useSecondFactor } = store
  for (const [name, happens] of Object.entries(voids)) {
    const before = (await current()).portal.password ?? ''
    time.now += stepMs
    const token = await pending()
    Object.assign(store, {
      useSecondFactor: async (...given: Parameters<typeof useSecondFactor>) => {
        const isUsed = await useSecondFactor(...given)
        await happens()
        return isUsed
      },
    })
    await t.rejects(sendCode(token, codeAt(time.now)), { code: 'credentials-invalid' }, name)
    t.strictSame(await store.listPortalSessions(id, time.now), [], name)
    Object.assign(store, { useSecondFactor })
    await store.setPassword(id, { password: before, proof: undefined, endsSessions: false })
  }
  time.now += stepMs
  await t.resolves(sendCode(await pending(), codeAt(time.now)))
})

t.test('the instance that gets the code may have a clock that is a little behind, no more', async (t) => {
  const { pending, sendCode, codeAt, time } = await openProtected(t)
  time.now += 10 * stepMs
  const token = await pending()
  time.now -= clocksApartMs + 1
  await t.rejects(sendCode(token, codeAt(time.now)), { code: 'credentials-invalid' })
  time.now += 1
  await t.resolves(sendCode(token, codeAt(time.now)))
})

t.test('a browser that is known keeps its own guesses, and its right code clears them', async (t) => {
  const { pending, sendCode, codeAt, time, signedIn, current } = await openProtected(t)
  const tokens = [signedIn.clientToken]
  for (let count = 0; count < 5; count++)
    await t.rejects(sendCode(await pending(tokens), '123', tokens), wrong)
  t.equal((await current()).portal.failures?.total, 5)
  await sendCode(await pending(tokens), codeAt(time.now), tokens)
  t.equal((await current()).portal.failures, undefined)
})

t.test('a recovery code signs in once, however it is typed, and is stored as a digest', async (t) => {
  const { pending, sendCode, recoveryCodes, current, factors, given, secret, store } = await openProtected(t)
  t.equal(new Set(recoveryCodes).size, 10)
  const [first = '', second = '', third = ''] = recoveryCodes
  const text = JSON.stringify(await current())
  for (const secretText of [secret, ...recoveryCodes, ...recoveryCodes.map((code) => code.replace('-', ''))])
    t.notOk(text.includes(secretText))
  await t.resolves(sendCode(await pending(), ` ${first.toUpperCase()} `))
  await t.rejects(sendCode(await pending(), first), wrong)
  await t.resolves(sendCode(await pending(), second.replace('-', '')))
  t.equal((await current()).portal.secondFactor?.recoveryDigests.length, 8)
  const renewed = await factors.renewRecoveryCodes(await current(), given(third))
  t.equal((await current()).portal.secondFactor?.recoveryDigests.length, 10)
  await t.rejects(sendCode(await pending(), recoveryCodes[5] ?? ''), wrong, 'an earlier one')
  await t.resolves(sendCode(await pending(), renewed[0] ?? ''))
  const actions = (await listAudit(store, { before: undefined, limit: 30 })).map(({ action }) => action)
  t.equal(actions.filter((action) => action === 'recovery-code-used').length, 4)
  t.ok(actions.includes('recovery-codes-renewed'))
})

t.test('it is enabled with a code of its own secret only, and disabled with a code', async (t) => {
  const { factors, current, given, codeAt, time, signIn, email, createPerson, acts } = await openProtected(t)
  const disable = async (code: string) => factors.disable(await current(), given(code))
  await t.rejects(disable('000000'), wrong)
  await t.resolves(disable(codeAt(time.now)))
  t.ok(await signIn.signIn({ email, password }, visitor))
  const { id } = await createPerson({ email: 'bob@example.com' })
  const bob = await acts.accounts.get(id)
  const { secret } = factors.propose(bob)
  t.equal(factors.propose(bob, secret).secret, secret)
  for (const bad of ['', 'short', 'not base32!', 'A'.repeat(10_000)])
    t.not(factors.propose(bob, bad).secret, bad)
  await t.rejects(factors.enable(bob, { ...given(codeAt(time.now)), secret }), wrong, 'of another secret')
  await t.rejects(factors.enable(bob, { ...given('123456'), secret: 'x' }), wrong)
})

t.test('another Admin, or an operator, removes it; nobody their own', async (t) => {
  const { actsOf, id, email, signIn, acts } = await openProtected(t)
  const own = actsOf({ kind: 'account', channel: 'portal', id, email, address: '192.0.2.1' })
  await t.rejects(own.resetSecondFactor(id), { code: 'own-account' })
  t.equal(await acts.resetSecondFactor(email), true)
  t.equal(await acts.resetSecondFactor(email), false)
  t.ok(await signIn.signIn({ email, password }, visitor))
  await t.rejects(acts.resetSecondFactor('nobody'), { code: 'account-not-found' })
})

const factor = { sealed: 'x', enabledAt: 0, lastStep: 0, recoveryDigests: [] }

t.test('whoever has a password has to set up a second factor where the policy says so', async (t) => {
  const needing = (role: string, portal: Partial<typeof noPortalAccess>): readonly SecondFactorPolicy[] =>
    secondFactorPolicies.filter((policy) =>
      needsSecondFactor(newAccount({ role, portal: { ...noPortalAccess, ...portal } }), policy),
    )
  t.strictSame(needing('Admin', { password: 'hashed' }), ['admins', 'everybody'])
  for (const role of ['User', 'admin', 'Administrator'])
    t.strictSame(needing(role, { password: 'hashed' }), ['everybody'], role)
  t.strictSame(needing('Admin', { password: 'hashed', secondFactor: factor }), [], 'it is set up')
  t.strictSame(needing('Admin', {}), [], 'a provider asks for what it wants')
})

import t from 'tap'
import type { Access } from '#identity/access.ts'
import { createAuthenticator } from '#identity/authenticator.ts'
import { type Credential, type Credentials, withAuthorization } from '#identity/credentials.ts'
import { type Authentication, type Principal, refusedCredential } from '#identity/decision.ts'
import { usualCarriers } from '../setup/carriers.ts'
import { accessOf } from './auth-harness.ts'

const principal: Principal = {
  accountId: 'ada',
  role: 'User',
  sessionId: 'one',
  key: 'default',
  scopes: [],
  addresses: [],
  quota: undefined,
  plan: undefined,
  issuer: undefined,
  profile: undefined,
  scheme: 'bearer',
}
const letIn: Authentication = { kind: 'authenticated', principal, holdsUntil: 5_000 }
const bearer = accessOf('bearer')

/** Bearers are decided about by `answer`, each time that somebody is asked. */
function start(answer: () => Authentication | Promise<Authentication> = () => letIn) {
  const state = {
    now: 1_000,
    version: {} as object | undefined,
    hits: 0,
    asked: 0,
    isCurrent: true,
    caughtUp: 0,
  }
  const directory = {
    version: () => state.version,
    countHit: () => void state.hits++,
    confirm: async () => {},
    isCurrent: () => state.isCurrent,
    catchUp: async () => {
      state.caughtUp++
      state.isCurrent = true
    },
  }
  const scheme = {
    authenticate: () => {
      state.asked++
      return answer()
    },
  }
  const schemes = { bearer: scheme, secretKey: scheme }
  const clock = () => state.now
  const authenticator = createAuthenticator({ schemes, directory, clock, monotonic: clock })
  const decide = (access: Access, credentials: Credentials) =>
    authenticator.decide(access, credentials, state.now)
  return { state, decide }
}

const newCredential = (): Credentials => withAuthorization({ kind: 'none' }, 'Bearer a.b.c', usualCarriers)

t.test('a credential is decided once, and each reuse counts as a look-up', async (t) => {
  const { state, decide } = start()
  const credential = newCredential()
  const first = decide(bearer, credential)
  t.match(first, { kind: 'allowed', principal })
  t.equal(decide(bearer, credential), first)
  t.strictSame([state.asked, state.hits], [1, 1])
  t.equal(decide(bearer, newCredential()), first, 'whichever request it comes with')
  t.strictSame([state.asked, state.hits], [1, 2])
  const other = withAuthorization({ kind: 'none' }, 'Bearer a.b.d', usualCarriers)
  t.not(decide(bearer, other), first)
  t.equal(state.asked, 2)
})

/** How often somebody was asked once the same credential has been decided about at these times. */
function askedAfter({ state, decide }: ReturnType<typeof start>) {
  const credential = newCredential()
  return (...times: readonly number[]) => {
    for (const now of times) {
      state.now = now
      decide(bearer, credential)
    }
    return state.asked
  }
}

t.test('a cached decision holds as long as it was granted for', async (t) => {
  const asked = askedAfter(start())
  t.equal(asked(4_500, 4_999), 1)
  t.equal(asked(5_000), 2)
})

t.test('in the last second that a decision was granted for, it is made for each request', async (t) => {
  const asked = askedAfter(start(() => ({ ...letIn, holdsUntil: 5_500 })))
  t.equal(asked(4_500, 4_999), 1)
  t.equal(asked(5_000, 5_499), 3)
})

t.test('a cached decision holds a second at most, however often it is used', async (t) => {
  const asked = askedAfter(start(() => ({ ...letIn, holdsUntil: Number.POSITIVE_INFINITY })))
  t.equal(asked(1_000, 1_111, 1_222, 1_333, 1_444, 1_555, 1_666, 1_777, 1_888, 1_999), 1)
  t.equal(asked(2_000), 2)
  t.equal(asked(60_000), 3)
})

t.test('a cached decision ends with any change, and with the loss of the store', async (t) => {
  const { state, decide } = start()
  const credential = newCredential()
  decide(bearer, credential)
  state.version = {}
  decide(bearer, credential)
  t.equal(state.asked, 2)
  state.version = undefined
  for (let times = 0; times < 3; times++) decide(bearer, credential)
  t.equal(state.asked, 5, 'what is known ages: it is looked at each time')
})

t.test('a cached decision does not apply to another access rule', async (t) => {
  const { state, decide } = start()
  const credential = newCredential()
  t.match(decide(bearer, credential), { kind: 'allowed' })
  t.match(decide(accessOf('secretKey'), credential), { kind: 'refused', code: 'scheme-not-accepted' })
  t.match(decide(accessOf('none'), credential), { kind: 'allowed', principal: undefined })
  t.match(decide(bearer, credential), { kind: 'allowed', principal })
  t.equal(state.asked, 1)
})

t.test('a cached refusal is repeated without a look-up', async (t) => {
  const { state, decide } = start(() =>
    refusedCredential('token-invalid', { holdsUntil: Number.POSITIVE_INFINITY }),
  )
  const credential = newCredential()
  for (let times = 0; times < 3; times++) {
    t.match(decide(bearer, credential), { kind: 'refused', code: 'token-invalid' })
  }
  t.strictSame([state.asked, state.hits], [1, 0])
  t.match(decide(bearer, newCredential()), { kind: 'refused', code: 'token-invalid' })
  t.equal(state.asked, 1, 'whichever request it comes with')
  state.version = {}
  decide(bearer, newCredential())
  t.equal(state.asked, 2, 'until something changes')
})

t.test('made-up tokens displace no valid one, and only so many are kept', async (t) => {
  const never = refusedCredential('token-invalid', { holdsUntil: Number.POSITIVE_INFINITY })
  const answers = [letIn]
  const { state, decide } = start(() => answers.shift() ?? never)
  const tokenOf = (index: number) =>
    withAuthorization({ kind: 'none' }, `Bearer a.b.made-up-${index}`, usualCarriers)
  decide(bearer, newCredential())
  for (let index = 0; index < 20_000; index++) decide(bearer, tokenOf(index))
  t.match(decide(bearer, newCredential()), { kind: 'allowed' })
  decide(bearer, tokenOf(0))
  t.equal(state.asked, 20_001)
  decide(bearer, tokenOf(19_999))
  t.equal(state.asked, 20_002)
})

t.test('a decision that does not hold, or arrives late, is not cached', async (t) => {
  for (const answer of [() => refusedCredential('token-expired'), async () => letIn]) {
    const { state, decide } = start(answer)
    const credential = newCredential()
    await decide(bearer, credential)
    t.equal((credential as Credential).recent, undefined)
    await decide(bearer, credential)
    t.equal(state.asked, 2)
  }
})

t.test('a process that stalled uses its caches only after reading the change log', async (t) => {
  const { state, decide } = start()
  const credential = newCredential()
  decide(bearer, credential)
  state.isCurrent = false
  const decision = decide(bearer, credential)
  t.ok(decision instanceof Promise, 'not by the decision of a moment ago')
  t.strictSame([state.caughtUp, state.asked], [1, 1], 'nobody is asked before')
  state.version = {}
  t.match(await decision, { kind: 'allowed', principal })
  t.equal(state.asked, 2)
})

t.test('a store answer from before a stall is discarded', async (t) => {
  const answer = Promise.withResolvers<Authentication>()
  const answers = [answer.promise, refusedCredential('token-revoked')]
  const { state, decide } = start(() => answers.shift() ?? letIn)
  const decision = decide(bearer, newCredential())
  state.isCurrent = false
  answer.resolve(letIn)
  t.match(await decision, { kind: 'refused', code: 'token-revoked' })
  t.equal(state.caughtUp, 1)
})

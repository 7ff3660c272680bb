import t, { type Test } from 'tap'
import { openRateLimiter } from '#identity/limits/rate-limiter.ts'
import { createKnownClients, createPortalSessions } from '#identity/portal/portal-sessions.ts'
import { createSignInCodes, type SignInCode } from '#identity/portal/sign-in-codes.ts'
import { createPortalTokens } from '#identity/tokens/issued-tokens.ts'
import { createRefreshTokens } from '#identity/tokens/refresh-tokens.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import { lifetimeMs, openPeople, visitor } from '../account-services.ts'
import { createBench, newSigningKey } from '../tokens/forged-tokens.ts'

const codeMs = 60_000
const page = { hostName: 'app.example.com', to: '/reports', challenge: 'digest-of-a-key' }

/** A person who is signed in at the host of the portal, and the codes that take this to another host. */
async function start(t: Test) {
  const { store, time, createPerson } = openPeople(t)
  const clock = () => time.now
  const limiter = openRateLimiter({
    store,
    storeConnection: { isUp: false },
    monotonic: clock,
    onStoreFailure: () => {},
  })
  t.teardown(limiter.close)
  const portalTokens = createPortalTokens({
    store,
    accessTokens: createBench([newSigningKey('key')], { clock }).accessTokens,
    refreshTokens: createRefreshTokens(Buffer.alloc(32, 6)),
    refreshIdleMs: lifetimeMs,
    openMax: 100,
    needsEnrolment: () => false,
    onIssued: () => {},
    clock,
  })
  const sessions = createPortalSessions({
    store,
    portalTokens,
    hasTokenCookies: false,
    knownClients: createKnownClients(Buffer.alloc(32, 3)),
    sessionLifetimeMs: lifetimeMs,
    clock,
  })
  const codesOf = (sealingKey: Uint8Array) =>
    createSignInCodes({ sealer: createSealer(sealingKey), sessions, limiter, clock })
  const codes = codesOf(Buffer.alloc(32, 7))
  const { signedIn: viewer } = await createPerson()

  function newCode(): SignInCode {
    const code = codes.read(codes.create(viewer, page), page.hostName)
    if (!code) throw new Error('the code cannot be read')
    return code
  }
  /** `tokens`, or why there are none. */
  async function redeem(code: SignInCode, challenge: string | undefined = page.challenge) {
    const issued = await codes.redeem(code, challenge, visitor)
    return typeof issued === 'string' ? issued : 'tokens'
  }
  return { time, codes, codesOf, sessions, viewer, newCode, redeem }
}

t.test('a code of the portal is worth the tokens of one session, once', async (t) => {
  const { codes, viewer, newCode, redeem } = await start(t)
  const issued = await codes.redeem(newCode(), page.challenge, visitor)
  t.match(issued, { account: { id: viewer.account.id } })
  const code = newCode()
  t.equal(await redeem(code), 'tokens')
  t.equal(await redeem(code), 'it was used before')
  t.equal(await redeem(newCode()), 'tokens', 'another one is not used up with it')
})

t.test('a code works for a minute, to the millisecond, and not at all if made later than now', async (t) => {
  const { time, newCode, redeem } = await start(t)
  const made = time.now
  const codes = [newCode(), newCode(), newCode(), newCode()] as const
  time.now = made + codeMs - 1
  t.equal(await redeem(codes[0]), 'tokens')
  time.now = made + codeMs
  t.equal(await redeem(codes[1]), 'it has expired')
  time.now = made - codeMs
  t.equal(await redeem(codes[2]), 'tokens', 'the clock of another instance may be a minute ahead')
  time.now = made - codeMs - 1
  t.equal(await redeem(codes[3]), 'it has expired')
})

t.test('a code is for the browser that began the visit, and no other can use it up', async (t) => {
  const { codes, newCode, redeem } = await start(t)
  const code = newCode()
  t.equal(await redeem(code, 'digest-of-another'), 'another browser began the visit')
  t.equal(await redeem(code, ''), 'another browser began the visit')
  t.equal(await codes.redeem(code, undefined, visitor), 'another browser began the visit')
  t.equal(await redeem(code), 'tokens')
})

t.test('a code is read at its host alone, unchanged, and by who has made it', async (t) => {
  const { codes, codesOf, viewer } = await start(t)
  const text = codes.create(viewer, page)
  t.match(codes.read(text, page.hostName), { accountId: viewer.account.id, to: page.to })
  for (const hostName of ['portal.example.com', 'example.com', 'app.example.com.', 'APP.example.com', ''])
    t.equal(codes.read(text, hostName), undefined, hostName)
  t.equal(codesOf(Buffer.alloc(32, 8)).read(text, page.hostName), undefined, 'other sealing keys')
  for (let index = 0; index < text.length - 1; index += 7) {
    const other = text[index] === 'x' ? 'y' : 'x'
    const changed = text.slice(0, index) + other + text.slice(index + 1)
    t.equal(codes.read(changed, page.hostName), undefined, `character ${index}`)
  }
  t.equal(codes.read('x'.repeat(4_001), page.hostName), undefined, 'longer than any code')
})

t.test('a code is worth nothing once its session is over', async (t) => {
  const { time, sessions, viewer, newCode, redeem } = await start(t)
  const code = newCode()
  await sessions.end(viewer, visitor)
  t.equal(await redeem(code), 'the session is over')
  time.now += 1
  t.equal(await redeem(newCode()), 'the session is over')
})

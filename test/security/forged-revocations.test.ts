// slow: it waits for silence, and for connections that are tried again
import { decodeJwt, decodeProtectedHeader, type JWTPayload, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { newSigningKey } from '../identity/tokens/forged-tokens.ts'
import { codeOf, type Relay, startFollowing, untilCode } from '../library/verify/following.ts'
import { until } from '../setup/net.ts'

const jwtOf = (event: string) => event.slice('data: '.length).trimEnd()
const eventOf = (jwt: string) => `data: ${jwt}\n\n`
const hasRevoked = (event: string) => (decodeJwt(jwtOf(event)).revoked as readonly unknown[]).length > 0
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The event with another payload, but its signature. */
function tamper(event: string, change: (payload: JWTPayload) => JWTPayload): string {
  const [header, , signature] = jwtOf(event).split('.')
  return eventOf([header, encode(change(decodeJwt(jwtOf(event)))), signature].join('.'))
}

/** What somebody between a gateway and its backends may do with each event, with memory of its own. */
const attacks: Readonly<Record<string, () => Relay>> = {
  'revocations that are dropped': () => (event, pass) => hasRevoked(event) || pass(event),
  'events that change places': () => {
    let held: string | undefined
    return (event, pass) => {
      if (held === undefined) held = event
      else {
        pass(event)
        pass(held)
        held = undefined
      }
    }
  },
  'events that come twice': () => (event, pass) => pass(event + event),
  'an event of before in place of each': () => {
    let first: string | undefined
    return (event, pass) => {
      first ??= event
      pass(first)
    }
  },
  'revocations that are taken out': () => (event, pass) =>
    pass(tamper(event, (payload) => ({ ...payload, revoked: [] }))),
  'events that seem newer': () => (event, pass) =>
    pass(tamper(event, (payload) => ({ ...payload, asOf: 1e12 }))),
  'events without a signature': () => (event, pass) => {
    const header = { ...decodeProtectedHeader(jwtOf(event)), alg: 'none' }
    pass(eventOf(`${encode(header)}.${encode(decodeJwt(jwtOf(event)))}.`))
  },
  'events signed with another key of the same name': () => {
    const { privateKey } = newSigningKey('other').material
    return async (event, pass) => {
      if (!privateKey) throw new Error('there is no private key')
      const { kid, typ } = decodeProtectedHeader(jwtOf(event))
      const header = { alg: 'ES256', ...(kid && { kid }), ...(typ && { typ }) }
      const payload = { ...decodeJwt(jwtOf(event)), revoked: [] }
      pass(eventOf(await new SignJWT(payload).setProtectedHeader(header).sign(privateKey)))
    }
  },
  'no events at all': () => () => {},
  'events that arrive late': () => {
    const waiting: string[] = []
    return (event, pass) => {
      // Some two seconds late, and in order.
      if (waiting.push(event) > 8) pass(waiting.shift() ?? '')
    }
  },
  'text that never ends': () => (_event, pass) => pass(`data: ${'x'.repeat(100_000)}`),
}

/** A verifier that follows by way of an attacker, who is honest yet. */
async function startAttacked(t: Test) {
  const relay: { pass: Relay } = { pass: (event, pass) => pass(event) }
  const started = await startFollowing(t, { relay })
  const { gateway, created, verifier, assertionOf } = started
  const assertion = await assertionOf({ SecretKey: created.secretKey })
  await untilCode(verifier, assertion, 'verified')
  const revoke = () =>
    gateway.operate(({ accounts }) => accounts.update(created.account.id, { role: 'User' }))
  return { ...started, relay, assertion, revoke }
}

for (const [name, attack] of Object.entries(attacks)) {
  t.test(`${name} let no revoked caller pass for longer than a second`, async (t) => {
    const { relay, verifier, assertion, states, revoke } = await startAttacked(t)
    relay.pass = attack()
    await revoke()
    const revokedAt = performance.now()
    const code = await until('it does not pass', async () => {
      const verdict = await codeOf(verifier.verify(assertion))
      return verdict === 'verified' ? undefined : verdict
    })
    t.match(code, /^(?:revoked|revocations-unknown)$/)
    // A busy machine may be late itself.
    t.ok(performance.now() - revokedAt < 2_500)
    await until('it is noticed', () => states.includes('unknown'))
    for (let tries = 0; tries < 5; tries++) t.not(await codeOf(verifier.verify(assertion)), 'verified')
    relay.pass = (event, pass) => pass(event)
    await untilCode(verifier, assertion, 'revoked')
    await until('it is known again', () => states.at(-1) === 'current')
  })
}

t.test('a snapshot that was recorded is no answer to another question', async (t) => {
  const { relay, verifier, assertion, states, errors, revoke } = await startAttacked(t)
  const recorded: string[] = []
  // Cut, so that the verifier asks again, and its snapshot is recorded.
  relay.pass = (event, pass, index) => {
    if (recorded.length === 0 && index === 0) recorded.push(event)
    if (index > 0) pass('data: x\n\n')
    else pass(event)
  }
  await until('a snapshot is recorded', () => recorded.length > 0)
  relay.pass = (_event, pass, index) => pass(index === 0 ? (recorded[0] ?? '') : 'data: x\n\n')
  await revoke()
  await until('it does not pass', async () => (await codeOf(verifier.verify(assertion))) !== 'verified')
  await until('it is noticed', () => states.at(-1) === 'unknown')
  await until('why', () => errors.some((error) => String(error).includes('snapshot')))
  relay.pass = (event, pass) => pass(event)
  await untilCode(verifier, assertion, 'revoked')
})

t.test('tokens that the gateway signs for callers are no events', async (t) => {
  const { relay, verifier, assertion, gateway, created, states } = await startAttacked(t)
  const { JwtToken } = await gateway.tokens(created)
  for (const token of [assertion, JwtToken]) {
    relay.pass = (_event, pass) => pass(eventOf(token))
    await until('it is noticed', () => states.at(-1) === 'unknown')
    relay.pass = (event, pass) => pass(event)
    await untilCode(verifier, assertion, 'verified')
  }
})

t.test('an event is neither an assertion nor an access token', async (t) => {
  const { relay, verifier, gateway, errors } = await startAttacked(t)
  let event = ''
  relay.pass = (each, pass) => {
    event = each
    pass(each)
  }
  await until('there is one', () => event !== '')
  t.equal(await codeOf(verifier.verify(jwtOf(event))), 'assertion-invalid')
  const response = await fetch(`${gateway.url}/any`, { headers: { Authorization: `Bearer ${jwtOf(event)}` } })
  t.equal(response.status, 401)
  t.strictSame(errors, [])
})

t.test('where the app accepts what is unknown, what is known to be revoked is refused still', async (t) => {
  const relay: { pass: Relay } = { pass: (event, pass) => pass(event) }
  const { gateway, verifier, created, states, assertionOf } = await startFollowing(t, {
    relay,
    revocations: { onUnknown: 'accept' },
  })
  const key = { SecretKey: created.secretKey }
  const revoked = await assertionOf(key)
  await untilCode(verifier, revoked, 'verified')
  await gateway.operate(({ accounts }) => accounts.update(created.account.id, { role: 'User' }))
  await untilCode(verifier, revoked, 'revoked')
  const other = await assertionOf(key)
  relay.pass = () => {}
  await until('it is unknown', () => states.at(-1) === 'unknown')
  t.equal(await codeOf(verifier.verify(other)), 'verified')
  t.equal(await codeOf(verifier.verify(revoked)), 'revoked')
})

import { decodeJwt } from 'jose'
import t, { type Test } from 'tap'
import type { Operator } from '#cli/operator.ts'
import { AssertionError, createVerifier, type RevocationOptions, type Verifier } from '#library/verify.ts'
import { startBoth } from '../../setup/both.ts'
import { until } from '../../setup/net.ts'

const config = {
  identity: { assertion: { enabled: true } },
  tokens: { revocationFeed: { enabled: true } },
}

type StartedGateway = Awaited<ReturnType<typeof startBoth>>

/** A gateway with a reader of its revocations, an account, and the assertion of its last request. */
async function start(t: Test, options: Partial<RevocationOptions> = {}) {
  const { gateway, backend } = await startBoth(t, { config })
  const reader = await gateway.createAccount({ role: 'Admin' })
  const states: string[] = []
  const verifier = verifierOf(t, gateway, {
    headers: { SecretKey: reader.secretKey },
    onState: (state) => states.push(state),
    ...options,
  })
  const created = await gateway.createAccount({ role: 'Editor' })

  async function assertionOf(headers: Readonly<Record<string, string>>): Promise<string> {
    const response = await fetch(`${gateway.url}/any`, { headers })
    t.equal(response.status, 200)
    return String(backend.last().headers['x-gatehouse-assertion'])
  }

  return { gateway, backend, reader, verifier, created, states, assertionOf }
}

function verifierOf(
  t: Test,
  { url }: StartedGateway['gateway'],
  revocations: Omit<RevocationOptions, 'url'>,
) {
  const verifier = createVerifier({
    jwksUrl: `${url}/.well-known/jwks.json`,
    issuer: 'http://localhost:8080',
    audience: 'backend',
    revocations: { ...revocations, url: `${url}/api/v1/revocations` },
  })
  t.teardown(verifier.close)
  return verifier
}

async function codeOf(verifying: Promise<unknown>): Promise<string> {
  try {
    await verifying
    return 'verified'
  } catch (error) {
    if (error instanceof AssertionError) return error.code
    throw error
  }
}

/** Waits until it is refused. @returns how long that took, in milliseconds */
async function untilRevoked(verifier: Verifier, assertion: string): Promise<number> {
  const begunAt = performance.now()
  await until('revoked', async () => (await codeOf(verifier.verify(assertion))) === 'revoked')
  return performance.now() - begunAt
}

t.test('whatever revokes a caller, older assertions are refused within a second', async (t) => {
  const { gateway, verifier, created, states, assertionOf } = await start(t)
  const { id } = created.account
  const key = { SecretKey: created.secretKey }
  const { JwtToken } = await gateway.tokens(created)
  const bearer = { Authorization: `Bearer ${JwtToken}` }
  const changes: Readonly<Record<string, (operator: Operator) => Promise<unknown>>> = {
    'another role': ({ accounts }) => accounts.update(id, { role: 'User' }),
    'a further key': ({ secretKeys }) => secretKeys.create(id, { name: 'ci', scopes: [], addresses: [], expiresAt: undefined }),
    'that key revoked': ({ secretKeys }) => secretKeys.revoke(id, 'ci', 0),
  }
  for (const [name, change] of Object.entries(changes)) {
    const before = await assertionOf(key)
    t.equal(await codeOf(verifier.verify(before)), 'verified', name)
    await gateway.operate(change)
    t.ok((await untilRevoked(verifier, before)) < 1_000, name)
    t.equal(await codeOf(verifier.verify(await assertionOf(key))), 'verified', `${name}: the next one`)
  }
  const ofSession = await assertionOf({ Authorization: `Bearer ${(await gateway.tokens(created)).JwtToken}` })
  const { sid } = decodeJwt(ofSession)
  await gateway.operate(({ sessions }) => sessions.end(id, String(sid)))
  t.ok((await untilRevoked(verifier, ofSession)) < 1_000, 'a session')
  t.equal(await codeOf(verifier.verify(await assertionOf(key))), 'verified', 'no other caller')

  const before = await assertionOf(key)
  await gateway.operate(({ accounts }) => accounts.update(id, { isDisabled: true }))
  t.ok((await untilRevoked(verifier, before)) < 1_000, 'a disabled account')
  await gateway.operate(({ accounts }) => accounts.update(id, { isDisabled: false }))
  t.equal(await codeOf(verifier.verify(await assertionOf(key))), 'verified', 'enabled again, at once')
  t.equal((await fetch(`${gateway.url}/any`, { headers: bearer })).status, 401)
  t.strictSame(states, ['current'])
})

import t from 'tap'
import { authorize, isFromAllowedAddress } from '#identity/authorize.ts'
import type { Principal } from '#identity/decision.ts'
import { accessOf } from './auth-harness.ts'

const user: Principal = {
  accountId: 'a',
  role: 'User',
  scheme: 'secretKey',
  sessionId: undefined,
  key: 'default',
  scopes: [],
  addresses: [],
  quota: undefined,
  plan: undefined,
  issuer: undefined,
  profile: { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace', isVerified: true },
}
const admin: Principal = { ...user, role: 'Admin' }
const unverified: Principal = {
  ...user,
  profile: { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace', isVerified: false },
}

t.test('a route without rules takes every known caller', async (t) => {
  for (const principal of [user, admin, unverified]) {
    t.equal(authorize(accessOf('any'), principal), undefined)
  }
})

t.test('a route with roles takes exactly these, case-sensitively', async (t) => {
  const access = accessOf('any', { roles: ['Admin', 'Auditor'] })
  t.equal(authorize(access, admin), undefined)
  t.equal(authorize(access, { ...user, role: 'Auditor' }), undefined)
  for (const role of ['User', 'admin', 'ADMIN', 'Admin ', 'Admin,Auditor', '', 'has', '__proto__']) {
    t.equal(authorize(access, { ...user, role }), 'role-forbidden', role)
  }
})

t.test('a route with an empty list of roles takes no caller', async (t) => {
  for (const principal of [user, admin]) {
    t.equal(authorize(accessOf('any', { roles: [] }), principal), 'role-forbidden')
  }
})

t.test('a verifiedOnly route takes verified accounts alone', async (t) => {
  const access = accessOf('any', { verifiedOnly: true })
  t.equal(authorize(access, user), undefined)
  t.equal(authorize(access, unverified), 'account-unverified')
})

t.test('verification is undecided from a token alone', async (t) => {
  const access = accessOf('any', { roles: ['User'], verifiedOnly: true })
  const unknown = { ...user, profile: undefined }
  t.throws(() => authorize(access, unknown), { code: 'store-unavailable' })
  t.equal(authorize(access, { ...unknown, role: 'Guest' }), 'role-forbidden')
  t.equal(authorize(accessOf('any', { roles: ['User'] }), unknown), undefined)
})

t.test('the role is checked before the verification', async (t) => {
  const access = accessOf('bearer', { roles: ['Admin'], verifiedOnly: true })
  t.equal(authorize(access, unverified), 'role-forbidden')
  t.equal(authorize(access, { ...unverified, role: 'Admin' }), 'account-unverified')
  t.equal(authorize(access, admin), undefined)
})

t.test('on an optional route the rules apply to authenticated callers', async (t) => {
  const access = accessOf('optional', { roles: ['Admin'], verifiedOnly: true })
  t.equal(authorize(access, undefined), undefined)
  t.equal(authorize(access, user), 'role-forbidden')
  t.equal(authorize(access, admin), undefined)
})

t.test('a public route takes every request', async (t) => {
  const access = accessOf('none', { roles: ['Admin'], verifiedOnly: true })
  for (const principal of [undefined, user, unverified]) t.equal(authorize(access, principal), undefined)
})

t.test(
  'a limited key or token needs all scopes of the route, and passes on no route without any',
  async (t) => {
    const both = accessOf('any', { scopes: ['orders:read', 'orders:write'] })
    const scoped = (...scopes: readonly string[]): Principal => ({ ...user, scopes })
    t.equal(authorize(both, scoped('orders:write', 'orders:read', 'more')), undefined)
    for (const scopes of [['orders:read'], ['orders:write'], ['orders:reader', 'orders:write'], ['orders:*']])
      t.equal(authorize(both, scoped(...scopes)), 'scope-forbidden', scopes.join(' '))
    t.equal(authorize(accessOf('any'), scoped('orders:read')), 'scope-forbidden', 'the route names none')
    t.equal(authorize(both, user), undefined, 'what is not limited passes')
  },
)

t.test('a token of a foreign issuer that names no scopes has none', async (t) => {
  const foreign: Principal = { ...user, scheme: 'bearer', issuer: 'corp' }
  t.equal(authorize(accessOf('any', { scopes: ['orders:read'] }), foreign), 'scope-forbidden')
  t.equal(authorize(accessOf('any'), foreign), undefined)
})

t.test('a principal with addresses may come from these alone', async (t) => {
  const limited: Principal = { ...user, addresses: ['192.0.2.7', '10.0.0.0/8'] }
  for (const address of ['192.0.2.7', '10.0.0.0', '10.255.255.255', '::ffff:10.1.2.3'])
    t.equal(isFromAllowedAddress(limited, address), true, address)
  for (const address of ['192.0.2.8', '9.255.255.255', '11.0.0.0', '::1', ''])
    t.equal(isFromAllowedAddress(limited, address), false, address)
  t.equal(isFromAllowedAddress(user, '192.0.2.8'), true, 'without a list, from anywhere')
})

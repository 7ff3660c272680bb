import t from 'tap'
import { authorize } from '../../src/auth/authorize.ts'
import type { Principal } from '../../src/auth/principal.ts'
import { accessOf } from './auth-harness.ts'

const user: Principal = {
  accountId: 'a',
  role: 'User',
  scheme: 'secretKey',
  sessionId: undefined,
  key: 'default',
  scopes: [],
  addresses: [],
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

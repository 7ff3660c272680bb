import t from 'tap'
import {
  needsSecondFactor,
  type SecondFactorPolicy,
  secondFactorPolicies,
} from '#identity/second-factor/policy.ts'
import { noPortalAccess } from '#store/portal-access.ts'
import { newAccount } from '../store/samples.ts'

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

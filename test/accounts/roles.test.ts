import t from 'tap'
import { knownRoles, similarRole } from '#accounts/account-input.ts'

t.test('the known roles are those of the gateway and those that routes name, each once', async (t) => {
  t.strictSame(knownRoles([]), ['Admin', 'User'])
  const routes = [{ roles: ['Editor', 'Admin'] }, { roles: undefined }, { roles: ['Editor'] }]
  t.strictSame(knownRoles(routes), ['Admin', 'Editor', 'User'])
})

t.test('a role differing only in case from a known one is found similar', async (t) => {
  const known = ['Admin', 'Editor', 'User']
  t.equal(similarRole('admin', known), 'Admin')
  t.equal(similarRole('EDITOR', known), 'Editor')
  for (const role of ['Admin', 'Administrator', 'Adm1n', ''])
    t.equal(similarRole(role, known), undefined, role)
})

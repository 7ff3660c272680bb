import t from 'tap'
import { findAdminsByDefault } from '../../../src/config/warnings/issuers.ts'
import { minimalConfig, read } from '../config-fixtures.ts'

t.test('an issuer whose users are Admins by default is warned of', async (t) => {
  const corp = { name: 'corp', issuer: 'https://id.example.com', audience: 'orders' }
  const warningsWith = (role: object) => {
    const { problems, tree } = read(t, {
      ...minimalConfig,
      issuers: [corp, { ...corp, name: 'other', role }],
    })
    t.strictSame(
      problems.map(({ message }) => message).filter((each) => !each.includes('issuer')),
      [],
    )
    return findAdminsByDefault(tree)
  }
  t.match(warningsWith({ default: 'Admin' }), [
    { path: ['issuers', 1, 'role', 'default'], message: /^makes everybody .* issuer "other" an Admin/ },
  ])
  for (const role of [{}, { default: 'User' }, { claim: 'groups', map: { ops: 'Admin' } }])
    t.strictSame(warningsWith(role), [])
})

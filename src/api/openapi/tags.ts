/** The groups of operations, in the order in which they are shown. */
export const tags = [
  { name: 'Tokens', description: 'Access and refresh tokens for the keys of an account.' },
  { name: 'OAuth 2', description: 'The same in the standard form, for clients that know no gateway.' },
  { name: 'Keys', description: 'Ending a key that was found.' },
  { name: 'Usage', description: 'What the account of the caller has used.' },
  { name: 'Discovery', description: 'Public keys, metadata of resources, and this document.' },
  { name: 'Accounts', description: 'For Admins: accounts, their keys, sessions and usage.' },
  { name: 'Subjects', description: 'For Admins: blocked users of foreign issuers.' },
  { name: 'Audit', description: 'For Admins: who has done what.' },
  { name: 'Portal', description: 'Pages for people.' },
] as const

/** The group of a path of the gateway's own. */
export function tagOf(path: string): (typeof tags)[number]['name'] {
  if (path.startsWith('/api/v1/admin/audit')) return 'Audit'
  if (path.startsWith('/api/v1/admin/subjects')) return 'Subjects'
  if (path.startsWith('/api/v1/admin/')) return 'Accounts'
  if (path === '/api/v1/accounts/usage') return 'Usage'
  if (path.startsWith('/api/v1/accounts/')) return 'Tokens'
  if (path.startsWith('/api/v1/oauth/')) return 'OAuth 2'
  if (path.startsWith('/api/v1/keys/')) return 'Keys'
  return 'Discovery'
}

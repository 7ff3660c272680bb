import t from 'tap'
import { findCleartextIntrospection, findOpenIssuers, findRolesByDefault } from '#config/warnings/issuers.ts'
import { minimalConfig, type Options, read } from '../config-fixtures.ts'

t.test('an issuer whose users have more than the least role by default is warned of', async (t) => {
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
    return findRolesByDefault(tree)
  }
  t.match(warningsWith({ default: 'Admin' }), [
    { path: ['issuers', 1, 'role', 'default'], message: /^makes everybody .* issuer "other" an Admin/ },
  ])
  t.match(warningsWith({ default: 'Editor' }), [
    { message: /^makes everybody .* issuer "other" Editor, which is not the least privileged role/ },
  ])
  for (const role of [{}, { default: 'User' }, { claim: 'groups', map: { ops: 'Admin' } }])
    t.strictSame(warningsWith(role), [])
})

const withIssuer = (options: Options) => ({
  ...minimalConfig,
  issuers: [{ name: 'public', audience: 'https://gateway.example.com', ...options }],
})

t.test('introspection over plain HTTP is warned of, but on this machine', async (t) => {
  const warnings = (url: string) => {
    const introspection = { url, clientId: 'gateway', clientSecret: { env: 'SECRET' } }
    const options = { issuer: 'https://id.example.com', introspection }
    const { problems, tree } = read(t, withIssuer(options), { env: { SECRET: 'x' } })
    t.strictSame(problems, [])
    return findCleartextIntrospection(tree)
  }
  t.match(warnings('http://keycloak:8080/introspect'), [
    { path: ['issuers', 0, 'introspection', 'url'], message: /tokens of issuer "public".*unencrypted/ },
  ])
  for (const url of [
    'https://id.example.com/x',
    'http://127.0.0.1:4444/x',
    'http://localhost/x',
    'http://[::1]/x',
  ])
    t.strictSame(warnings(url), [])
  const { tree } = read(t, withIssuer({ issuer: 'https://id.example.com' }))
  t.strictSame(findCleartextIntrospection(tree), [])
})

const publicIssuers: readonly (readonly [issuer: string, claim: string, value: string])[] = [
  ['https://token.actions.githubusercontent.com', 'repository', 'acme/shop'],
  ['https://token.actions.githubusercontent.com/', 'repository_owner_id', '123'],
  ['https://gitlab.com', 'project_path', 'acme/shop'],
  ['https://accounts.google.com', 'hd', 'example.com'],
  ['https://example.eu.auth0.com/', 'azp', 'client'],
  ['https://login.microsoftonline.com/common/v2.0', 'tid', '8f1c0a52'],
  ['https://login.microsoftonline.com/9188040D-6c67-4c5b-b112-36a304b66dad/v2.0', 'tid', '8f1c0a52'],
]

t.test(
  'a public issuer that is trusted without a claim that says whose tokens pass is warned of',
  async (t) => {
    const warnings = (options: Options) => {
      const { problems, tree } = read(t, withIssuer(options))
      t.strictSame(problems, [])
      return findOpenIssuers(tree).map(({ path, message, hint }) => `${path.join('.')}: ${message}: ${hint}`)
    }
    for (const [issuer, claim, value] of publicIssuers) {
      t.match(
        warnings({ issuer }),
        [/^issuers\.0: .* gets tokens of issuer "public": say in require/],
        issuer,
      )
      t.match(warnings({ issuer, require: { ref: ['x'] } }), [/say in require/], 'a claim that anybody has')
      t.strictSame(warnings({ issuer, require: { [claim]: [value] } }), [], issuer)
      for (const open of ['*', `*${value}`, 'a*'])
        t.match(warnings({ issuer, require: { [claim]: [value, open] } }), [/say in require/], open)
      const unread = { issuer, require: { [claim]: [value] }, audience: undefined }
      t.match(warnings(unread), [
        /^issuers\.0: audience is left out, so tokens of issuer .* that were made for others are accepted/,
      ])
    }
    const github = 'https://token.actions.githubusercontent.com'
    t.strictSame(warnings({ issuer: github, require: { repository: ['acme/*'] } }), [])
    t.strictSame(warnings({ issuer: github, require: { sub: ['repo:acme/*:ref:refs/heads/main'] } }), [])
    for (const issuer of [
      'https://id.example.com',
      'https://gitlab.example.com',
      'https://login.microsoftonline.com/8f1c0a52-0000-4000-8000-000000000000/v2.0',
      'https://auth0.com.example.com/',
    ])
      t.strictSame(warnings({ issuer }), [], issuer)
  },
)

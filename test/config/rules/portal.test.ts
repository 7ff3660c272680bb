import t from 'tap'
import { logoBytesMax } from '#portal/branding.ts'
import { type Files, load, minimalConfig, problemMessages } from '../config-fixtures.ts'

const mail = { host: 'smtp.example.com', from: 'gatehouse@example.com' }

t.test("the portal's path must be plain, and apart from the gateway's own paths", async (t) => {
  for (const path of ['/portal', '/a', '/a/b-c_d.e~1', '/api', '/api/v2'].filter((path) => path !== '/api')) {
    t.strictSame(problemMessages(t, { ...minimalConfig, portal: { path } }), [], path)
  }
  for (const path of ['', '/', 'portal', '/portal/', '//a', '/a b', '/a?b', '/a/../b', '/./a', '/%61']) {
    t.match(problemMessages(t, { ...minimalConfig, portal: { path } }), [/^portal\.path: /], path)
  }
  for (const path of ['/api', '/api/v1', '/api/v1/admin', '/.well-known', '/.well-known/x']) {
    t.match(problemMessages(t, { ...minimalConfig, portal: { path } }), [/^portal\.path: must not be/], path)
  }
})

t.test('the portal has a name, and a logo that browsers can show', async (t) => {
  const files = { 'config/logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>', 'config/other': 'GIF89a' }
  const problems = (branding: object, more: Files = {}) =>
    problemMessages(t, { ...minimalConfig, portal: { branding } }, { files: { ...files, ...more } })
  for (const name of ['x', 'Ünïcode ☃ <b>', 'x'.repeat(60)]) t.strictSame(problems({ name }), [], name)
  for (const name of ['', 'x'.repeat(61), 'a\nb', 'x'.repeat(10_000)])
    t.match(problems({ name }), [/^portal\.branding\.name: /], name)
  t.strictSame(problems({ logo: { file: 'logo.svg' } }), [])
  t.match(problems({ logo: 'logo.svg' }), [/^portal\.branding\.logo: must be a map such as { file: … }/])
  t.match(problems({ logo: {} }), [/^portal\.branding\.logo\.file: is missing/])
  t.match(problems({ logo: { file: 'none.svg' } }), [/^portal\.branding\.logo: cannot read .*none\.svg/])
  t.strictSame(problems({ logo: { file: 'other' } }), [
    'portal.branding.logo.file: is not an SVG, PNG, JPEG or WebP image',
  ])
  for (const [bytes, found] of [
    [logoBytesMax, []],
    [logoBytesMax + 1, ['portal.branding.logo.file: is larger than 256 KiB']],
    [8 * 1_048_576 + 1, [/cannot read .*logo\.svg: it is larger than 8 MiB/]],
  ] as const) {
    const content = Buffer.alloc(bytes, ' ').fill('<svg>', 0, 5)
    t.match(problems({ logo: { file: 'logo.svg' } }, { 'config/logo.svg': content }), found, String(bytes))
  }
})

t.test('the colours of the portal can be read, or what can be is suggested', async (t) => {
  const problems = (branding: object) => problemMessages(t, { ...minimalConfig, portal: { branding } })
  t.strictSame(problems({ color: '#6D28d9' }), [])
  t.strictSame(problems({ color: '#6d28d9', darkColor: '#ffcc00' }), [])
  for (const color of ['red', '#abc', '#6d28d9ff', '6d28d9', ''])
    t.match(problems({ color }), [/^portal\.branding\.color: has an invalid format/], color)
  t.strictSame(problems({ color: '#ffcc00' }), [
    'portal.branding.color: has a contrast of 1.35:1 on light pages, where text needs 4.5:1 (WCAG AA): use #876c00; keep this one as darkColor',
  ])
  t.strictSame(problems({ darkColor: '#6d28d9' }), [
    'portal.branding.darkColor: has a contrast of 2.47:1 on dark pages, where text needs 4.5:1 (WCAG AA): use #9969e4',
  ])
  // On the darkest ground of light pages, one step below and at the limit.
  t.strictSame(problems({ color: '#6f6f6f' }), [])
  t.match(problems({ color: '#707070' }), [/4\.4\d:1 on light pages/])
})

t.test('the OpenID provider of the portal is at a secure URL, and gives accounts a role', async (t) => {
  const oidc = { issuer: 'https://id.example.com/', clientId: 'gatehouse' }
  const problems = (more: object) =>
    problemMessages(t, { ...minimalConfig, portal: { oidc: { ...oidc, ...more } } })
  t.strictSame(problems({}), [])
  for (const issuer of ['http://localhost:8180/realms/a', 'http://127.0.0.1', 'https://a.example/b'])
    t.strictSame(problems({ issuer }), [], issuer)
  for (const issuer of [
    'http://id.example.com',
    'id.example.com',
    'https://a:b@id.example.com',
    'https://a/?b',
    'https://a/#b',
  ])
    t.match(problems({ issuer }), [/^portal\.oidc\.issuer: must be an https:/], issuer)
  t.match(problemMessages(t, { ...minimalConfig, portal: { oidc: {} } }), [
    /issuer: is missing/,
    /clientId: is missing/,
  ])
  t.match(problems({ clientSecret: 'inline' }), [/^portal\.oidc\.clientSecret: .*never written inline/])
  t.match(problems({ clientSecret: { env: 'NOT_SET_ANYWHERE' } }), [/NOT_SET_ANYWHERE is not set/])
  for (const provision of ['none', 'User', 'a.b-c_1', 'x'.repeat(64)])
    t.strictSame(problems({ provision }), [], provision)
  for (const provision of ['', '1a', 'a b', 'x'.repeat(65), 'x'.repeat(10_000)])
    t.match(problems({ provision }), [/^portal\.oidc\.provision: /], provision)
  t.strictSame(problems({ scopes: ['openid', 'api://x/y.z'] }), [])
  t.match(problems({ scopes: ['email'] }), [/^portal\.oidc\.scopes: must include openid/])
  t.match(problems({ scopes: ['openid', 'a b'] }), [/^portal\.oidc\.scopes/])
  for (const label of ['x', 'Ünïcode ☃', 'x'.repeat(60)]) t.strictSame(problems({ label }), [], label)
  for (const label of ['', 'x'.repeat(61), 'a\nb', 'x'.repeat(10_000)])
    t.match(problems({ label }), [/^portal\.oidc\.label: /], label)
})

t.test('several OpenID providers are told apart by name, issuer and label', async (t) => {
  const at = (name: string | undefined, more: object = {}) => ({
    ...(name !== undefined && { name }),
    issuer: `https://${name ?? 'id'}.example.com`,
    clientId: 'gatehouse',
    label: name ?? 'Example ID',
    ...more,
  })
  const problems = (oidc: unknown) => problemMessages(t, { ...minimalConfig, portal: { oidc } })
  t.strictSame(problems([]), [])
  t.strictSame(problems([at(undefined)]), [])
  t.strictSame(problems(at('corp')), [])
  t.strictSame(problems([at(undefined), at('corp'), at('Corp')]), [])
  t.strictSame(problems(Array.from({ length: 8 }, (_, index) => at(`p${index}`))), [])
  for (const count of [9, 1_000])
    t.match(
      problems(Array.from({ length: count }, (_, index) => at(`p${index}`))),
      [/^portal\.oidc: /],
      `${count}`,
    )
  for (const name of ['', '-a', 'a/b', 'a b', '..', 'ü', 'x'.repeat(65), 'x'.repeat(10_000)])
    t.match(problems(at('a', { name })), [/^portal\.oidc\.name: /], name)
  t.strictSame(problems([at(undefined), at(undefined, { issuer: 'https://b.example', label: 'B' })]), [
    'portal.oidc[1].name: is missing here and in portal.oidc[0]: only one provider may have no name',
  ])
  t.strictSame(
    problems([at('a'), at('b'), at('c', { name: 'a', issuer: 'https://b.example.com', label: 'b' })]),
    [
      'portal.oidc[2].name: is the same as in portal.oidc[0]: it must differ for each provider',
      'portal.oidc[2].issuer: is the same as in portal.oidc[1]: it must differ for each provider',
      'portal.oidc[2].label: is the same as in portal.oidc[1]: it must differ for each provider',
    ],
  )
  t.match(problems([at('a'), { name: 'b', issuer: 'http://b.example', scopes: [] }, 'c', {}]), [
    /^portal\.oidc\[1\]\.clientId: is missing/,
    /^portal\.oidc\[1\]\.issuer: must be an https:/,
    /^portal\.oidc\[1\]\.scopes: must include openid/,
    /^portal\.oidc\[2\]: must be a map such as \{ issuer: …, clientId: … \}/,
    /^portal\.oidc\[3\]\.issuer: is missing/,
    /^portal\.oidc\[3\]\.clientId: is missing/,
    /^portal\.oidc\[3\]\.label: is the same/,
  ])
  t.match(problems('corp'), [
    /^portal\.oidc: must be a map such as \{ issuer: …, clientId: … \}, or a list of such/,
  ])
  t.match(problems(at('a', { lable: 'x' })), [/^portal\.oidc\.lable: unknown option, did you mean "label"/])
  t.match(problems([at('a', { lable: 'x' })]), [
    /^portal\.oidc\[0\]\.lable: unknown option, did you mean "label"/,
  ])
})

t.test('one OpenID provider as a map and as a list is the same to the program', async (t) => {
  const one = { issuer: 'https://id.example.com', clientId: 'gatehouse', provision: 'User' }
  const [map, list] = [one, [one]].map((oidc) => load(t, { ...minimalConfig, portal: { oidc } }).portal)
  t.strictSame(map?.oidc, list?.oidc)
  t.strictSame(map?.oidc, [
    {
      name: undefined,
      issuer: 'https://id.example.com',
      clientId: 'gatehouse',
      clientSecret: undefined,
      provision: 'User',
      scopes: ['openid', 'email', 'profile'],
      label: 'single sign-on',
      acceptsPasswords: true,
      claims: {
        email: 'email',
        emailVerified: 'email_verified',
        firstName: 'given_name',
        lastName: 'family_name',
      },
    },
  ])
  const env = { GATEHOUSE__PORTAL__OIDC__CLIENTID: 'other' }
  t.equal(load(t, { ...minimalConfig, portal: { oidc: one } }, { env }).portal.oidc[0]?.clientId, 'other')
  const indexed = { GATEHOUSE__PORTAL__OIDC__0__CLIENTID: 'other' }
  const overridden = load(t, { ...minimalConfig, portal: { oidc: [one] } }, { env: indexed })
  t.equal(overridden.portal.oidc[0]?.clientId, 'other')
})

t.test('mail settings must be complete', async (t) => {
  t.strictSame(problemMessages(t, { ...minimalConfig, mail }), [])
  t.match(problemMessages(t, { ...minimalConfig, mail: {} }), [
    'mail.host: is missing',
    'mail.from: is missing',
  ])
  t.match(problemMessages(t, { ...minimalConfig, mail: { ...mail, username: 'a' } }), [
    /^mail: username and password/,
  ])
  t.match(problemMessages(t, { ...minimalConfig, mail: { ...mail, password: 'inline' } }), [
    /never written inline/,
  ])
  for (const from of ['gatehouse', 'a@b@c', 'Gatehouse <a@b>', 'a@b\r\nBcc: c@d']) {
    t.match(
      problemMessages(t, { ...minimalConfig, mail: { ...mail, from } }),
      [/^mail\.from: must be an e-mail/],
      from,
    )
  }
})

t.test('a host of the portal has no routes, and is another than that of publicUrl', async (t) => {
  const publicUrl = 'https://api.example.com:8443'
  const problems = (host: string, routeHost = 'api.example.com') =>
    problemMessages(t, {
      ...minimalConfig,
      publicUrl,
      portal: { host },
      routes: [{ name: 'all', path: '/', upstream: 'backend', auth: 'any', host: routeHost }],
    })
  t.strictSame(problems('portal.example.com'), [])
  t.strictSame(problems('PORTAL.example.com', 'x.portal.example.com'), [])
  t.match(problems('API.example.com', 'other.example.com'), [
    /^portal\.host: must not be the host of publicUrl/,
  ])
  t.match(problems('portal.example.com', 'Portal.Example.com'), [/^routes\S*host: is portal\.host/])
  for (const host of [
    '',
    'https://portal.example.com',
    'portal.example.com:443',
    'a b',
    '-a',
    'a'.repeat(254),
  ])
    t.match(problems(host), [/^portal\.host: /], host)
  const named = { ...minimalConfig, portal: { host: 'portal.example.com' }, routes: { name: 'all' } }
  t.match(problemMessages(t, named), [/^routes: must be/], 'a mapping is no list')
})

t.test('pages lead through the portal, whether it has a host of its own or not', async (t) => {
  const route = {
    name: 'all',
    path: '/',
    upstream: 'backend',
    auth: 'bearer',
    browser: { cookie: true, signIn: true },
  }
  const problems = (portal: object) =>
    problemMessages(t, { ...minimalConfig, portal, accessCookie: { enabled: true }, routes: [route] })
  t.strictSame(problems({}), [])
  t.strictSame(problems({ host: 'portal.example.com' }), [])
})

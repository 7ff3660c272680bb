import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 as Ajv } from 'ajv/dist/2020.js'
import t from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { startAdminApi } from './support/admin.ts'
import { accessTokenPath, ask, askJson, jwksPath, refreshTokenPath, revokeTokenPath } from './support/ask.ts'

interface Schema {
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, unknown>>
  readonly examples: readonly unknown[]
}

const documentPath = '/api/v1/openapi.json'

t.test('the OpenAPI document', async (t) => {
  const { gateway, described } = await startAdminApi(t, 'sqlite')

  t.test('the OpenAPI document is valid, and describes every own endpoint', async (t) => {
    const validator = new Validator()
    // The cast is sound: a document is what it takes, in another type's words; and it changes what it is given.
    const copy = structuredClone(described.document) as unknown as Parameters<typeof validator.validate>[0]
    const result = await validator.validate(copy)
    t.ok(result.valid, JSON.stringify(result.valid ? '' : result.errors))
    t.equal(validator.version, '3.1')
    const operations = Object.entries(described.document.paths).flatMap(([path, item]) =>
      ['get', 'post', 'patch', 'delete']
        .filter((method) => method in item)
        .map((method) => `${method} ${path}`),
    )
    const ids = JSON.stringify(described.document.paths).match(/"operationId":"[^"]*"/g) ?? []
    t.equal(ids.length, operations.length)
    t.equal(new Set(ids).size, ids.length, 'each has an ID of its own')
    t.strictSame(operations, [
      `post ${accessTokenPath}`,
      `post ${refreshTokenPath}`,
      `post ${revokeTokenPath}`,
      'get /api/v1/accounts/usage',
      ...['token', 'introspect', 'revoke'].map((name) => `post /api/v1/oauth/${name}`),
      'post /api/v1/keys/revoke',
      'get /api/v1/revocations',
      `get ${jwksPath}`,
      'get /.well-known/oauth-authorization-server',
      ...['', '/{path}'].map((rest) => `get /.well-known/oauth-protected-resource${rest}`),
      `get ${documentPath}`,
      'get /api/v1/admin/accounts',
      'post /api/v1/admin/accounts',
      ...['get', 'patch', 'delete'].map((method) => `${method} /api/v1/admin/accounts/{id}`),
      'post /api/v1/admin/accounts/{id}/secret-key',
      'post /api/v1/admin/accounts/{id}/api-key',
      ...['get', 'post'].map((method) => `${method} /api/v1/admin/accounts/{id}/keys`),
      'delete /api/v1/admin/accounts/{id}/keys/{name}',
      ...['get', 'delete'].map((method) => `${method} /api/v1/admin/accounts/{id}/sessions`),
      'delete /api/v1/admin/accounts/{id}/second-factor',
      'get /api/v1/admin/accounts/{id}/usage',
      'post /api/v1/admin/apply',
      ...['get', 'post', 'delete'].map((method) => `${method} /api/v1/admin/subjects`),
      'get /api/v1/admin/audit',
      'get /portal',
    ])
  })

  t.test(
    'linters of OpenAPI find nothing to warn of, and generators no member that a request need not have',
    async (t) => {
      const { paths, components } = described.document as unknown as {
        readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses?: object }>>>>
        readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
      }
      for (const [path, item] of Object.entries(paths)) {
        for (const { responses } of Object.values(item).filter((operation) => operation.responses))
          t.match(Object.keys(responses ?? {}).join(), /4\d\d/, path)
      }
      const ajv = new Ajv({
        strict: false,
        validateFormats: false,
        schemas: [{ $id: 'openapi', ...described.document }],
      })
      for (const [name, schema] of Object.entries(components.schemas)) {
        t.notMatch(JSON.stringify(schema), /"default":/, name)
        const undefinedMembers = (schema.required ?? []).filter((each) => !schema.properties?.[each])
        t.strictSame(undefinedMembers, [], name)
        for (const example of schema.examples)
          t.ok(
            ajv.validate({ $ref: `openapi#/components/schemas/${name}` }, example),
            `${name}: ${ajv.errorsText()}`,
          )
      }
      t.end()
    },
  )

  t.test(
    'the OpenAPI document offers the schemes as a choice, once, and asks for none where none is needed',
    async (t) => {
      const { security, paths } = described.document as unknown as {
        readonly security: unknown
        readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly security?: unknown }>>>>
      }
      t.strictSame(security, [{ secretKey: [] }, { bearer: [] }])
      t.strictSame(paths[accessTokenPath]?.post?.security, [])
      t.equal(paths['/api/v1/admin/accounts']?.get?.security, undefined)
      t.end()
    },
  )

  t.test('the OpenAPI document says which cookies carry tokens', async (t) => {
    for (const path of [accessTokenPath, refreshTokenPath, revokeTokenPath])
      t.match(
        JSON.stringify(described.document.paths[path]),
        /"Set-Cookie":\{"description":"The refresh token as a cookie; where `accessCookie` is enabled/,
      )
    t.end()
  })

  t.test('the OpenAPI document can be cached and revalidated', async (t) => {
    const first = await ask(t, gateway.url, `GET ${documentPath}`)
    t.match(first.headers, { 'content-type': /^application\/json/, 'cache-control': 'public, max-age=300' })
    const { etag = '' } = first.headers
    for (const condition of [etag, `"x", W/${etag}`, '*']) {
      const again = await ask(t, gateway.url, `GET ${documentPath}`, [`If-None-Match: ${condition}`])
      t.match(again, { status: 304, body: '' }, condition)
      t.equal(again.headers.etag, etag)
    }
    t.equal((await ask(t, gateway.url, `GET ${documentPath}`, ['If-None-Match: "x"'])).status, 200)
    const head = await ask(t, gateway.url, `HEAD ${documentPath}`)
    t.match(head, { status: 200, body: '' })
  })

  t.test('the token endpoints answer as the OpenAPI document says, success and failure', async (t) => {
    const { secretKey, apiKey } = await gateway.createAccount()
    const post = async (path: string, body: unknown, status: number, headers: readonly string[] = []) => {
      const response = await askJson(t, gateway.url, path, body, headers)
      t.equal(response.status, status)
      described.assert(t, `POST ${path}`, response)
      return response
    }
    const issued = await post(accessTokenPath, { SecretKey: secretKey, APIKey: apiKey }, 200)
    const refreshed = await post(refreshTokenPath, { token: issued.json().RefreshToken }, 200)
    await post(refreshTokenPath, {}, 400)
    await post(refreshTokenPath, { token: 'x' }, 401)
    await post(refreshTokenPath, {}, 403, [`Cookie: refreshToken=x`, 'Sec-Fetch-Site: cross-site'])
    await post(revokeTokenPath, { token: refreshed.json().refreshToken }, 200)
    await post(refreshTokenPath, { token: refreshed.json().refreshToken }, 401)
    await post(accessTokenPath, { SecretKey: secretKey, APIKey: apiKey.replace('_ak_', '_sk_') }, 401)
    await post('/api/v1/keys/revoke', { key: 'x' }, 200)
    await post('/api/v1/keys/revoke', {}, 400)
    for (const body of [{}, [], { SecretKey: 1, APIKey: '' }]) await post(accessTokenPath, body, 400)
    await post(accessTokenPath, { SecretKey: 'x'.repeat(70_000) }, 413)
    const plain = await ask(t, gateway.url, `POST ${accessTokenPath}`, ['Content-Type: text/plain'], 'x')
    described.assert(t, `POST ${accessTokenPath}`, plain)
    described.assert(t, `GET ${jwksPath}`, await ask(t, gateway.url, `GET ${jwksPath}`))
    described.assert(t, `GET ${documentPath}`, await ask(t, gateway.url, `GET ${documentPath}`))
  })
})

t.test('without a portal the OpenAPI document omits it, and its path is proxied', async (t) => {
  const gateway = await startGateway(t, { config: { portal: { enabled: false } } })
  const document = await ask(t, gateway.url, `GET ${documentPath}`)
  t.notOk(Object.hasOwn(document.json().paths as object, '/portal'))
  t.equal((await ask(t, gateway.url, 'GET /portal')).status, 404)
})

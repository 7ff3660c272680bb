import t from 'tap'
import { createLinkToken, createPortalToken } from '#platform/secrets/link-tokens.ts'
import { run } from '../cli/run.ts'
import { accessTokenPath, ask, askJson, refreshTokenPath, revokeTokenPath } from '../gateway/support/ask.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway, storeDrivers } from '../setup/gateway.ts'
import type { RawResponse } from '../setup/raw-client.ts'

for (const driver of storeDrivers) {
  t.test(`no secret is in a log line, metric, error or page, on ${driver}`, async (t) => {
    const gateway = await startBoth(t, { driver, config: { log: { level: 'debug' } } })
    const created = await gateway.createAccount()
    const tokens = await gateway.tokens(created)
    const { secretKey, apiKey } = created
    const secrets = [
      secretKey,
      apiKey,
      tokens.JwtToken,
      tokens.RefreshToken,
      'hunter2-query',
      'hunter2-cookie',
      'hunter2-basic',
      'hunter2-body',
      'hunter2-userinfo',
    ]
    const basic = Buffer.from('user:hunter2-basic').toString('base64')
    const answers: RawResponse[] = []

    /** Sends each secret wherever a client might put it, rightly or not. */
    const inEveryPlace = (path: string) =>
      secrets.flatMap((secret) => [
        ask(t, gateway.url, `GET ${path}?token=${secret}&SecretKey=${secret}`),
        ask(t, gateway.url, `GET ${path}/${secret.startsWith('hunter2') ? 'x' : secret}`),
        ask(t, gateway.url, `${secret.startsWith('hunter2') ? 'BREW' : secret} ${path}`),
        ask(t, gateway.url, `GET ${path}`, [`SecretKey: ${secret}`]),
        ask(t, gateway.url, `GET ${path}`, [`Authorization: Bearer ${secret}`]),
        ask(t, gateway.url, `GET ${path}`, [
          `Authorization: Basic ${basic}`,
          `Cookie: refreshToken=${secret}`,
        ]),
        ask(t, gateway.url, `GET ${path}`, [
          `X-Custom: ${secret}`,
          `User-Agent: ${secret}`,
          `Referer: ${secret}`,
        ]),
        ask(t, gateway.url, `GET ${path}`, [`Host: ${secret}`]),
        ask(t, gateway.url, `POST ${path}`, [`Content-Type: ${secret}`], secret),
        ask(t, gateway.url, `GET http://user:${secret}@gateway.test${path}`),
        ask(t, gateway.url, `GET ${path}`, [`X-Bad\x00: ${secret}`]),
      ])
    for (const path of ['/public', '/any', '/admin', '/nowhere', accessTokenPath])
      answers.push(...(await Promise.all(inEveryPlace(path))))
    for (const path of [accessTokenPath, refreshTokenPath, revokeTokenPath]) {
      for (const body of [
        { SecretKey: secretKey, APIKey: secretKey },
        { SecretKey: apiKey, APIKey: 'hunter2-body' },
        { token: tokens.JwtToken },
        { token: [tokens.RefreshToken] },
        { [tokens.RefreshToken]: 1 },
      ])
        answers.push(await askJson(t, gateway.url, path, body))
      answers.push(
        await ask(t, gateway.url, `POST ${path}`, ['Content-Type: application/json'], `{${secretKey}`),
      )
    }
    answers.push(await ask(t, gateway.url, `GET /a//b?${secretKey}`))
    for (const path of ['/livez', '/readyz', '/metrics', `/${secretKey}`])
      answers.push(await ask(t, gateway.opsUrl, `GET ${path}`, [`SecretKey: ${secretKey}`]))
    await gateway.shutDown()

    const errors = answers.filter(({ status, body }) => status >= 400 || body.includes('# HELP'))
    const places = {
      log: gateway.logLines.join(''),
      answers: errors.map(({ head, body }) => `${head}\n${body}`).join('\n'),
    }
    t.ok(gateway.logLines.length > 100)
    for (const secret of secrets) {
      // Of a key the 256 bits, of a token the part that says most.
      const [core = secret] = secret.split(/[_.]/).toSorted((a, b) => b.length - a.length)
      for (const [place, text] of Object.entries(places)) {
        t.notOk(text.includes(secret), `${secret.slice(0, 14)} whole in ${place}`)
        t.notOk(text.includes(core), `${secret.slice(0, 14)} in part in ${place}`)
      }
    }
    for (const encoded of [basic, encodeURIComponent(secretKey)]) t.notOk(places.log.includes(encoded))
  })
}

t.test('a secret in a path is not logged, however it is encoded', async (t) => {
  const gateway = await startGateway(t)
  const { account, secretKey } = await gateway.createAccount()
  const links = await gateway.operate(async ({ setupLinks }) => setupLinks.create(account.id))
  const kinds = [
    secretKey,
    links.token,
    createLinkToken('email', account.id).token,
    createPortalToken(account.id).token,
  ]
  const targets = [
    ...kinds.flatMap((token) => [
      `/x/${token}`,
      `/x/${token.replaceAll('_', '%5F')}`,
      `/x/%67${token.slice(1)}`,
      `/x//${token}`,
      `/portal/setup%23${token}`,
      `/portal/setup%2523${token}`,
      `/x#access_token=${token}`,
    ]),
    '/x#access_token=hunter2-fragment',
    'http://user:hunter2-userinfo@gateway.test/a//b',
  ]
  for (const target of targets) await ask(t, gateway.url, `GET ${target}`)
  await ask(t, gateway.url, 'CONNECT user:hunter2-userinfo@gateway.test:443')
  await ask(t, gateway.url, 'GET /x/gps_positions/today')
  await gateway.shutDown()
  const log = gateway.logLines.join('')
  const lines = gateway.logLines.filter((line) => line.includes('"request"'))
  t.equal(lines.length, targets.length + 2)
  const secrets = kinds.map((token) => token.split('_').find((part) => part.length === 43) ?? token)
  for (const text of [...secrets, 'hunter2-fragment', 'hunter2-userinfo']) t.notOk(log.includes(text), text)
  t.match(lines.at(-1), '/x/gps_positions/today', 'a path that only looks a little like it is')
})

t.test('explain never shows a secret in a path', async (t) => {
  const gateway = await startGateway(t)
  const { account } = await gateway.createAccount()
  const { token } = createLinkToken('setup', account.id)
  for (const sent of [token, token.replaceAll('_', '%5F')]) {
    for (const url of [`/portal/setup%23${sent}`, `/public/${sent}?x=${sent}`]) {
      const flags = ['-H', `X-Link: https://x.test/setup%23${sent}`, '--config', gateway.configFile]
      const { stdout, stderr } = await run(t, ['explain', 'GET', url, ...flags])
      t.match(stdout, '[secret]')
      t.notMatch(stdout + stderr, token.slice(-43))
    }
  }
})

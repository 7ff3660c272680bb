import t from 'tap'
import { accessTokenPath, ask, refreshTokenPath, revokeTokenPath } from '../gateway/support/ask.ts'
import { startBoth } from '../setup/both.ts'
import { storeDrivers } from '../setup/gateway.ts'

const names = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
]

for (const driver of storeDrivers) {
  t.test(`names on every object's prototype have no meaning in requests, on ${driver}`, async (t) => {
    const routes = ['constructor', 'toString'].map((name) => ({
      name,
      path: `/${name}`,
      upstream: 'backend',
      auth: 'any',
    }))
    const { backend, gateway } = await startBoth(t, { driver, config: { routes } })
    const { account, secretKey } = await gateway.createAccount()
    const before = Object.getOwnPropertyNames(Object.prototype).toSorted()

    for (const name of names) {
      for (const body of [
        `{"${name}":{"polluted":1}}`,
        `{"token":{"${name}":{"polluted":1}}}`,
        `{"SecretKey":"${name}","APIKey":"${name}","token":"${name}"}`,
        `{"token":"x","SecretKey":"x","APIKey":"x","${name}":{"prototype":{"polluted":1},"polluted":1}}`,
      ]) {
        for (const path of [accessTokenPath, refreshTokenPath, revokeTokenPath]) {
          const { status } = await ask(
            t,
            gateway.url,
            `POST ${path}`,
            ['Content-Type: application/json'],
            body,
          )
          t.ok(status < 500, `${body} at ${path} is ${status}`)
        }
      }
      const cookie = [`Cookie: ${name}=1; ${name}=2; refreshToken=${name}`]
      t.ok((await ask(t, gateway.url, `POST ${refreshTokenPath}`, cookie)).status < 500)
      for (const path of [
        `/${name}`,
        `/x/${name}/y?${name}=1&${name}[a]=b`,
        `/${encodeURIComponent(name)}`,
      ]) {
        const headers = [`${name}: polluted`, `X-User-${name}: x`, `Connection: ${name}`, `Host: ${name}`]
        t.ok((await ask(t, gateway.url, `GET ${path}`, [`${name}: 1`])).status < 500)
        t.ok((await ask(t, gateway.url, `GET ${path}`, headers)).status < 500)
        t.ok((await ask(t, gateway.url, `GET ${path}`, [`SecretKey: ${name}`])).status < 500)
        t.ok((await ask(t, gateway.url, `GET ${path}`, [`Authorization: ${name} ${name}`])).status < 500)
      }
      const padded = `gate_sk_${name.replaceAll('_', '').padEnd(16, 'x')}_${'a'.repeat(43)}_000000`
      t.equal((await ask(t, gateway.url, 'GET /constructor', [`SecretKey: ${padded}`])).status, 401)
    }

    t.strictSame(Object.getOwnPropertyNames(Object.prototype).toSorted(), before)
    t.notOk('polluted' in {})
    for (const path of ['/constructor', '/toString']) {
      const response = await ask(t, gateway.url, `GET ${path}`, [`SecretKey: ${secretKey}`, '__proto__: own'])
      t.equal(response.status, 200)
      t.equal(backend.last().headers['x-user-id'], account.id)
      t.ok(backend.last().rawHeaders.includes('__proto__'), 'and pass as the names that they are')
    }
  })
}

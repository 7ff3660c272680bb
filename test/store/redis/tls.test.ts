import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openRedisStore } from '../../../src/store/redis/store.ts'
import { freePort } from '../../setup/net.ts'
import { startRedis } from '../../setup/redis.ts'
import { assertUnavailable } from '../cases/every-verb.ts'
import { createAccount } from '../samples.ts'
import { certificate, certificateKey } from './certificate.ts'
import { openStoreAt, optionsOf } from './place.ts'

const dir = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'))
t.teardown(() => rmSync(dir, { recursive: true, force: true }))
const [certFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
writeFileSync(certFile, certificate)
writeFileSync(keyFile, certificateKey)

const tlsPort = await freePort()
await startRedis(t, [
  ...['--tls-port', String(tlsPort), '--tls-auth-clients', 'no'],
  ...['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certFile],
])
const place = { kind: 'single', url: `rediss://127.0.0.1:${tlsPort}` } as const
const options = optionsOf({ url: '' }, { place })

t.test('a server whose certificate is trusted is used', async (t) => {
  for (const tls of [
    { verify: true, ca: certificate },
    { verify: false, ca: undefined },
  ]) {
    const store = await openStoreAt(t, { ...options, tls })
    const { id } = await createAccount(store)
    t.equal((await store.findAccount(id))?.id, id)
  }
})

t.test('a server whose certificate is not trusted is never told anything', async (t) => {
  for (const tls of [undefined, { verify: true, ca: undefined }]) {
    const store = openRedisStore({ ...options, tls })
    t.teardown(() => store.close())
    await t.rejects(store.ready(1_000), { name: 'OperatorError' })
    await assertUnavailable(t, store)
  }
})

t.test('nor is one whose certificate is for another name', async (t) => {
  const elsewhere = { ...options, place: { kind: 'single', url: `rediss://localhost:${tlsPort}` } as const }
  const reachable = await openStoreAt(t, { ...elsewhere, tls: { verify: false, ca: undefined } })
  await reachable.ready(1_000)
  const store = openRedisStore({ ...elsewhere, tls: { verify: true, ca: certificate } })
  t.teardown(() => store.close())
  await t.rejects(store.ready(1_000), { name: 'OperatorError' })
})

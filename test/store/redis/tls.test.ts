import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { openClient } from '#store/redis/client.ts'
import { startRedis } from '../../setup/redis.ts'
import { assertUnavailable } from '../contract/every-verb.ts'
import { createAccount } from '../samples.ts'
import { certificate, writeCertificate } from './certificate.ts'
import { openAt, openStoreAt, optionsOf } from './place.ts'

const { tlsPort } = await startRedis(t, [], writeCertificate(t))
const topology = { kind: 'single', url: `rediss://127.0.0.1:${tlsPort}` } as const
const options = optionsOf({ url: '' }, { topology })

t.test('a Redis whose certificate is trusted is used', async (t) => {
  for (const tls of [
    { verify: true, ca: certificate },
    { verify: false, ca: undefined },
  ]) {
    const store = await openStoreAt(t, { ...options, tls })
    const { id } = await createAccount(store)
    t.equal((await store.findAccount(id))?.id, id)
  }
})

t.test('a Redis whose certificate is not trusted is sent nothing', async (t) => {
  for (const tls of [undefined, { verify: true, ca: undefined }]) {
    const store = openAt(t, { ...options, tls })
    await t.rejects(store.ready(1_000), { name: 'OperatorError' })
    await assertUnavailable(t, store)
  }
})

t.test('a Redis whose certificate is for another name is sent nothing', async (t) => {
  const elsewhere = {
    ...options,
    topology: { kind: 'single', url: `rediss://localhost:${tlsPort}` } as const,
  }
  const reachable = await openStoreAt(t, { ...elsewhere, tls: { verify: false, ca: undefined } })
  await reachable.ready(1_000)
  const store = openAt(t, { ...elsewhere, tls: { verify: true, ca: certificate } })
  await t.rejects(store.ready(1_000), { name: 'OperatorError' })
})

t.test('closing a store that is connecting to an untrusted Redis fails nothing else', async () => {
  // Most of them fail twice: with the certificate, and with what the server says of the early end.
  for (let i = 0; i < 20; i++) {
    const { client, close } = openClient({ ...options, tls: undefined })
    await turn()
    const isClosed = new Promise((resolve) => client.once('end', resolve))
    close()
    await isClosed
  }
})

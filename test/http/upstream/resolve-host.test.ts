import t from 'tap'
import { addressesMax, resolveHost } from '#http/upstream/resolve-host.ts'
import { startNameServer } from '../../setup/dns-server.ts'

t.test('a name is all its addresses of both families, with the TTL within bounds', async (t) => {
  const server = await startNameServer(t)
  server.names.set('orders.test', ['10.0.0.12', 'fd00::2', '10.0.0.11', 'fd00::1', '10.0.0.11'])
  for (const [ttlS, ttlMs] of [
    [0, 1_000],
    [1, 1_000],
    [30, 30_000],
    [3_600, 3_600_000],
    [3_601, 3_600_000],
    [2_000_000_000, 3_600_000],
  ] as const) {
    server.ttlS = ttlS
    t.strictSame(await resolveHost('orders.test', []), {
      addresses: ['10.0.0.11', '10.0.0.12', 'fd00::1', 'fd00::2'],
      ttlMs,
    })
  }
})

t.test('a name that no name server knows is looked up by the system', async (t) => {
  await startNameServer(t)
  const { addresses, ttlMs } = await resolveHost('localhost', [])
  t.ok(addresses.includes('127.0.0.1') || addresses.includes('::1'))
  t.equal(ttlMs, 10_000)
  await t.rejects(resolveHost('nobody.invalid', ['10.0.0.1']), { code: /ENOTFOUND|EAI_AGAIN/ })
})

t.test('addresses that are no server’s are left out, and beyond the bound all are', async (t) => {
  const server = await startNameServer(t)
  const nobody = ['0.0.0.0', '0.1.2.3', '224.0.0.1', '239.255.255.255', '255.255.255.255', '::', 'ff02::1']
  server.names.set('odd.test', [...nobody, '10.0.0.1'])
  t.strictSame((await resolveHost('odd.test', [])).addresses, ['10.0.0.1'])
  server.names.set('odd.test', nobody)
  await t.rejects(resolveHost('odd.test', []))
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => `10.0.${index >> 8}.${index & 255}`)
  for (const count of [1, addressesMax, addressesMax + 1, 300]) {
    server.names.set('many.test', many(count))
    t.equal((await resolveHost('many.test', [])).addresses.length, Math.min(count, addressesMax), `${count}`)
  }
})

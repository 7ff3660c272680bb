import t, { type Test } from 'tap'
import { openTargetSet } from '#http/upstream/target-set.ts'
import { type NameServer, startNameServer } from '../../setup/dns-server.ts'
import { until } from '../../setup/net.ts'

const host = 'orders.test'

/** The names of the targets that may be checked, from the start on. */
function open(t: Test, server: NameServer, addresses: readonly string[] | 'fail') {
  server.names.set(host, addresses)
  const names: (readonly string[])[] = []
  const set = openTargetSet(
    {
      name: 'orders',
      targets: [
        { url: new URL(`http://${host}:3000`), weight: 1 },
        { url: new URL('http://127.0.0.1:3000'), weight: 1 },
      ],
      resolve: 'all',
      balancing: 'roundRobin',
      health: { active: undefined, passive: undefined },
      connectTimeoutMs: 1_000,
      responseTimeoutMs: 1_000,
      idleTimeoutMs: 1_000,
      retryAttempts: 0,
      connectionsMax: 1,
      protocol: 'http1',
      headers: undefined,
      host: 'client',
      tls: { verify: true, ca: undefined },
    },
    {
      previous: undefined,
      onHealthChange: () => {},
      onAddressChange: () => {},
      onTargets: () => void names.push(set.settled.map(({ name }) => name)),
    },
  )
  t.teardown(set.close)
  names.push(set.settled.map(({ name }) => name))
  return { set, names }
}

t.test('a name is settled once it has been resolved for the first time, or could not be', async (t) => {
  const server = await startNameServer(t)
  const named = `http://${host}:3000`
  const plain = 'http://127.0.0.1:3000'
  for (const [addresses, settled] of [
    [
      ['127.0.0.11', '127.0.0.12'],
      [`${named} (127.0.0.11)`, `${named} (127.0.0.12)`, plain],
    ],
    ['fail', [named, plain]],
  ] as const) {
    const { set, names } = open(t, server, addresses)
    t.strictSame(
      set.targets.map(({ name }) => name),
      [named, plain],
      'requests need not wait',
    )
    await until('it is settled', () => names[1])
    t.strictSame(names, [[plain], settled])
    set.close()
  }
})

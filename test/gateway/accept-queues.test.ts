import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { listenOnAll } from '#gateway/server/listen.ts'
import { acceptQueuesMax, createFurtherQueues } from '#http/server/listener.ts'
import { startBoth } from '../setup/both.ts'

const onlyOnLinux = { skip: process.platform !== 'linux' && 'ports are shared only on Linux' }
const address = (port: number) => ({ host: '127.0.0.1', port })

/** As a listener of the gateway has them. */
function createServers(t: Test, count: number): readonly [Server, ...Server[]] {
  const server = createServer((socket) => socket.on('error', () => {}))
  const servers = [server, ...createFurtherQueues(server, {}, count - 1)] as const
  t.teardown(() => {
    for (const each of servers) each.close()
  })
  return servers
}

/** Clients that connect within one turn of the event loop. */
function connectAtOnce(t: Test, port: number, count: number): readonly Socket[] {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  return sockets
}

/** In how many turns of the event loop so many clients are accepted that connect at once. */
async function turnsFor(t: Test, queues: number, clients: number): Promise<number> {
  const servers = createServers(t, queues)
  let accepted = 0
  servers[0].on('connection', () => {
    accepted++
  })
  const port = await listenOnAll(servers, address(0), 'listen.port')
  connectAtOnce(t, port, clients)
  let turns = 0
  for (; accepted < clients; turns++) await nextTurn()
  return turns
}

t.test(
  'many clients that connect at once are accepted in few turns of the event loop',
  onlyOnLinux,
  async (t) => {
    const clients = 320
    t.ok(
      (await turnsFor(t, 1, clients)) >= clients,
      'one queue gives one in a turn: else more are not needed',
    )
    const turns = await turnsFor(t, acceptQueuesMax, clients)
    // The system chooses queues by a hash: the longest is some times as long as the average of 20.
    t.ok(turns < clients / 4, `${turns} turns`)
  },
)

const systemFile = '/proc/sys/net/core/somaxconn'
// Elsewhere than on Linux it is not known.
const systemMax = existsSync(systemFile) ? Number(readFileSync(systemFile, 'utf8')) : 0
const atOnce = 2_000

t.test(
  'two thousand clients that connect at the same moment are all connected',
  { skip: systemMax < atOnce && `net.core.somaxconn is ${systemMax}` },
  async (t) => {
    const port = await listenOnAll(createServers(t, 1), address(0), 'listen.port')
    const clients = connectAtOnce(t, port, atOnce)
    // Who is not connected by then waits a second for the system to try again.
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    t.equal(clients.filter(({ connecting }) => !connecting).length, atOnce)
  },
)

t.test('a port that another gateway listens on is in use, although it could be shared', async (t) => {
  const port = await listenOnAll(createServers(t, acceptQueuesMax), address(0), 'listen.port')
  const second = createServers(t, acceptQueuesMax)
  await t.rejects(listenOnAll(second, address(port), 'listen.port'), {
    message: `cannot listen on 127.0.0.1:${port}: address already in use`,
  })
  t.strictSame(new Set(second.map(({ listening }) => listening)), new Set([false]))
})

t.test(
  'clients in every queue are answered while the gateway shuts down, and later ones are refused',
  async (t) => {
    const gateway = await startBoth(t, { config: { shutdown: { drain: '10s' } } })
    const port = Number(new URL(gateway.url).port)
    const clients = connectAtOnce(t, port, 100)
    const answered = clients.map((client) => once(client, 'data'))
    for (const client of clients) client.write('GET /public HTTP/1.1\r\nHost: a\r\n\r\n')
    t.equal(await gateway.shutDown(), true)
    for (const [data] of await Promise.all(answered)) t.match(String(data), /^HTTP\/1.1 200 /)
    const late = connect(port, '127.0.0.1')
    t.match(await once(late, 'connect').catch((error: unknown) => error), { code: 'ECONNREFUSED' })
  },
)

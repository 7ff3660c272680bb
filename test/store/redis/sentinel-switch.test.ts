import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { portOf, until } from '../../setup/net.ts'
import { startRedis } from '../../setup/redis.ts'
import { createAccount } from '../samples.ts'
import { openInspector, openStoreAt, optionsOf } from './place.ts'

// slow: Redis Sentinel fails over

/**
 * Speaks as much as a Sentinel does to clients. A real one announces a failover at any time; this one just while
 * it is asked for the master.
 */
async function startAnnouncingSentinel(t: Test, masterPort: number) {
  const listeners = new Set<Socket>()
  let switches = 0
  let announcesWhenAsked = false
  const server = createServer((socket) => {
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    socket.on('close', () => listeners.delete(socket))
    socket.on('data', (data) => {
      for (const command of data
        .toString()
        .split(/^\*\d+\r\n/m)
        .slice(1))
        answer(socket, command)
    })
  })

  function answer(socket: Socket, command: string): void {
    if (/subscribe/i.test(command)) {
      listeners.add(socket)
      socket.write('>3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n')
    } else if (/get-master-addr-by-name/i.test(command)) {
      const port = String(masterPort)
      const address = `*2\r\n$9\r\n127.0.0.1\r\n$${port.length}\r\n${port}\r\n`
      if (announcesWhenAsked) announceSwitch()
      // Only once the listeners have received it.
      setTimeout(() => socket.write(address), announcesWhenAsked ? 50 : 0)
    } else if (/hello/i.test(command)) socket.write('%1\r\n$5\r\nproto\r\n:3\r\n')
    else socket.write(/sentinels/i.test(command) ? '*0\r\n' : '+OK\r\n')
  }

  function announceSwitch(): void {
    for (const listener of listeners) {
      switches++
      listener.write('>3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$1\r\nx\r\n')
    }
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  return {
    port: portOf(server),
    listeners: () => listeners.size,
    switches: () => switches,
    announceWhenAsked: (does: boolean) => {
      announcesWhenAsked = does
    },
  }
}

t.test(
  'a failover announced during the lookup of the master does not end the connection for ever',
  async (t) => {
    const master = await startRedis(t)
    const sentinel = await startAnnouncingSentinel(t, master.port)
    const nodes = [{ host: '127.0.0.1', port: sentinel.port }]
    const topology = { kind: 'sentinel', name: 'main', nodes, password: undefined } as const
    const store = await openStoreAt(t, optionsOf({ url: '' }, { topology, commandTimeoutMs: 250 }))
    const { id } = await createAccount(store)
    await until('it listens', () => sentinel.listeners() > 0 || undefined)
    sentinel.announceWhenAsked(true)
    await openInspector(t, master).call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await until('the switch is announced', () => sentinel.switches() > 0 || undefined)
    await t.rejects(store.findAccount(id), { code: 'store-unavailable' })
    sentinel.announceWhenAsked(false)
    const found = await until('it answers again', () => store.findAccount(id).catch(() => undefined))
    t.equal(found?.id, id)
  },
)

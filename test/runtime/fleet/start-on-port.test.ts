import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type AddressInfo, createServer, type Server } from 'node:net'
import t, { type Test } from 'tap'
import { listen } from '#gateway/server/listen.ts'
import { startOnPorts } from '#runtime/fleet/worker-ports.ts'
import { until } from '../../setup/net.ts'
import { get } from './fleet.ts'
import { newFleet } from './own-fleet.ts'

// slow: starts several fleets

const address = { host: '127.0.0.1', port: 0 }

/** Occupies the next port that this process has listened on as soon as it is free again. */
function takeNextPort(t: Test): Promise<number> {
  return new Promise((resolve) => {
    const listening = 'tracing:net.server.listen:asyncEnd'
    const onListening = (message: unknown) => {
      // The cast is sound: Node documents it for this channel.
      const { server } = message as { server: Server }
      const { port } = server.address() as AddressInfo
      unsubscribe(listening, onListening)
      server.once('close', () => resolve(take(t, port)))
    }
    subscribe(listening, onListening)
  })
}

async function take(t: Test, port: number): Promise<number> {
  const taker = createServer()
  t.teardown(() => taker.close())
  return listen(taker, { ...address, port }, 'the test')
}

t.test('a fleet at port 0 starts on another port where the one it chose is taken', async (t) => {
  const taken = takeNextPort(t)
  const { open, pids } = newFleet(t)
  const fleet = await open()
  t.not(new URL(fleet.url).port, String(await taken))
  t.equal(await get(fleet.url), 401)
  for (const pid of pids()) process.kill(pid, 'SIGKILL')
  await until('all are replaced', () => pids().length === 4 || undefined)
  t.equal(await get(fleet.url), 401, 'at the same port')
})

t.test('a configured port is never replaced by another', async (t) => {
  const port = await take(t, 0)
  const tried: number[] = []
  const started = startOnPorts(
    { listen: { ...address, port }, decide: undefined, redirect: undefined },
    (chosen) => {
      tried.push(chosen.listen)
      return take(t, chosen.listen)
    },
  )
  await t.rejects(started, { message: `cannot listen on 127.0.0.1:${port}: address already in use` })
  t.strictSame(tried, [port])
})

t.test('a start at port 0 fails where each of five ports is taken', async (t) => {
  const tried: number[] = []
  const started = startOnPorts(
    { listen: address, decide: undefined, redirect: undefined },
    async (chosen) => {
      tried.push(await take(t, chosen.listen))
      return take(t, chosen.listen)
    },
  )
  await t.rejects(started, { message: /address already in use$/ })
  t.equal(new Set(tried).size, 5)
})

t.test('a start at port 0 that fails for another reason is not tried again', async (t) => {
  let tries = 0
  const started = startOnPorts({ listen: address, decide: undefined, redirect: undefined }, async () => {
    tries++
    throw new Error('no database')
  })
  await t.rejects(started, { message: 'no database' })
  t.equal(tries, 1)
})

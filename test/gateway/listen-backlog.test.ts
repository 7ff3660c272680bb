import { existsSync, readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { listen } from '../../src/http/listen.ts'

const systemFile = '/proc/sys/net/core/somaxconn'
// Elsewhere than on Linux it is not known.
const systemMax = existsSync(systemFile) ? Number(readFileSync(systemFile, 'utf8')) : 0
const count = 2_000

t.test(
  'two thousand clients that connect at the same moment are all connected',
  { skip: systemMax < count && `net.core.somaxconn is ${systemMax}` },
  async (t) => {
    const server = createServer((socket) => socket.on('error', () => {}))
    const port = await listen(server, { host: '127.0.0.1', port: 0 }, 'listen.port')
    // All within one turn of the event loop, so that the server accepts none of them meanwhile.
    const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}))
    t.teardown(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    // Who is not connected by then waits a second for the system to try again.
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    t.equal(sockets.filter(({ connecting }) => !connecting).length, count)
  },
)

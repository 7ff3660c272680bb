import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { requestsPerTurnMax } from '#http/server/request-reader.ts'
import { DirectSocketReader } from '#http/socket-reader.ts'
import { portOf, until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { answerWith, listen } from './listen.ts'

/** Counts the turns of the event loop until the test ends. */
function countTurns(t: Test): () => number {
  let turn = 0
  let next = setImmediate(function count() {
    turn++
    next = setImmediate(count)
  })
  t.teardown(() => clearImmediate(next))
  return () => turn
}

/** How often each value came. */
function most(values: readonly number[]): number {
  return Math.max(...[...Map.groupBy(values, (value) => value).values()].map(({ length }) => length))
}

const terms = { requestTimeoutMs: 30_000, tls: undefined }
const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

t.test('pipelined requests of one connection are served in portions, a turn of the loop each', async (t) => {
  const turn = countTurns(t)
  const turns: number[] = []
  const { port } = await listen(
    t,
    (connection) => {
      turns.push(turn())
      answerWith(connection, String(turns.length))
    },
    terms,
  )
  const client = await connectRaw(t, `http://127.0.0.1:${port}`)
  const count = 20 * requestsPerTurnMax + 1
  client.send(request.repeat(count))
  for (let index = 1; index <= count; index++) t.equal((await client.response()).body, String(index))
  t.equal(turns.length, count, 'none is lost or taken twice')
  t.ok(most(turns) <= requestsPerTurnMax, `${most(turns)} in one turn`)
})

t.test('a client is served between the pipelined requests of another', async (t) => {
  const served: string[] = []
  let begun = () => {}
  const { port } = await listen(
    t,
    (connection, { target }) => {
      served.push(target)
      if (served.length === 1) begun()
      answerWith(connection, target)
    },
    terms,
  )
  const flood = await connectRaw(t, `http://127.0.0.1:${port}`)
  const other = await connectRaw(t, `http://127.0.0.1:${port}`)
  begun = () => void other.send(request.replace('/', '/other'))
  const count = 10_000
  flood.send(request.repeat(count))
  t.equal((await other.response()).body, '/other')
  await until('all are served', () => served.length === count + 1 || undefined)
  t.ok(served.indexOf('/other') < count / 2, `it came after ${served.indexOf('/other')} of the others`)
})

t.test('a client that closes has none of its waiting pipelined requests served', async (t) => {
  const turn = countTurns(t)
  let closedIn: number | undefined
  const turns: number[] = []
  const { port } = await listen(
    t,
    (connection) => {
      turns.push(turn())
      if (turns.length < requestsPerTurnMax) return answerWith(connection, 'ok')
      connection.socket.destroy()
      closedIn = turn()
    },
    terms,
  )
  const client = await connectRaw(t, `http://127.0.0.1:${port}`)
  client.send(request.repeat(3 * requestsPerTurnMax))
  await client.ended()
  const closed = await until('it is closed', () => closedIn)
  await until('some turns are over', () => turn() > closed + 3 || undefined)
  t.equal(turns.length, requestsPerTurnMax)
})

t.test('a half-closed client gets the answers to all that it pipelined', async (t) => {
  const { port } = await listen(t, (connection) => answerWith(connection, 'ok'), terms)
  const client = await connectRaw(t, `http://127.0.0.1:${port}`)
  const count = 3 * requestsPerTurnMax
  client.send(request.repeat(count))
  client.socket.end()
  for (let index = 0; index < count; index++) t.equal((await client.response()).body, 'ok')
  await client.ended()
})

for (const givesWay of [false, true]) {
  const what = givesWay
    ? 'is read once a turn of the event loop if it yields'
    : 'is read several times a turn of the event loop if it does not yield'
  t.test(`a connection with much to read ${what}`, async (t) => {
    const turn = countTurns(t)
    const turns: number[] = []
    const bytes = Buffer.alloc(2_000_000)
    let received = 0
    const server = createServer((socket: Socket) => {
      const reader = new DirectSocketReader(socket, (chunk) => {
        turns.push(turn())
        received += chunk.length
        if (givesWay) reader.yieldTurn()
        return true
      })
    })
    t.teardown(() => void server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const client = connect(portOf(server), '127.0.0.1')
    t.teardown(() => client.destroy())
    client.write(bytes)
    await until('all has come', () => received === bytes.length || undefined)
    if (givesWay) t.equal(most(turns), 1)
    else t.ok(most(turns) > 1, `${most(turns)} reads in one turn`)
  })
}

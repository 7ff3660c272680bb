import { once } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { onResponseSent } from '#api/replies.ts'
import { portOf } from '../setup/net.ts'

/** A connection, and the response to a request on it. */
async function openExchange(t: Test) {
  const server = createServer().listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const client = connect(portOf(server), '127.0.0.1')
  t.teardown(() => client.destroy())
  await once(client, 'connect')
  const [socket] = (await accepted) as [Socket]
  socket.on('error', () => socket.destroy())
  const response = new ServerResponse(new IncomingMessage(socket))
  response.assignSocket(socket)
  // As the gateway does: a listener added after this finds no socket.
  response.once('finish', () => response.detachSocket(socket))
  return { client, socket, response }
}

t.test('an answer that the connection has taken counts as sent', async (t) => {
  const { client, response } = await openExchange(t)
  let isSent = false
  onResponseSent(response, () => {
    isSent = true
  })
  response.end('answer')
  await once(client, 'data')
  t.ok(isSent)
})

t.test('an answer written to a connection whose reset is not read yet does not count as sent', async (t) => {
  const { client, socket, response } = await openExchange(t)
  let isSent = false
  onResponseSent(response, () => {
    isSent = true
  })
  client.resetAndDestroy()
  response.end('answer')
  await new Promise((resolve) => socket.once('close', resolve))
  t.notOk(isSent)
})

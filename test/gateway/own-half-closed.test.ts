import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { until } from '../setup/net.ts'
import { connectRaw, type RawClient } from '../setup/raw-client.ts'
import { ownPath, startOwnServer } from './support/own-server.ts'

/** A client that has sent a request and closed its side. */
async function sendAndClose(t: Test, url: string, path: string, version = '1.1'): Promise<RawClient> {
  const client = await connectRaw(t, url)
  client.socket.allowHalfOpen = true
  client.send(`GET ${path} HTTP/${version}\r\nHost: x\r\n\r\n`).socket.end()
  return client
}

/** Resolves once a client that came later, and waits for a backend, has been sent all that shows whether it is there. */
async function untilProbed(t: Test, url: string): Promise<void> {
  const other = await sendAndClose(t, url, '/held')
  for (let probes = 0; probes < 4; probes++) t.equal((await other.response()).status, 102)
}

t.test('nothing is written between the pieces of a paused own answer', async (t) => {
  for (const version of ['1.1', '1.0']) {
    const responses: ServerResponse[] = []
    const { url } = await startOwnServer(t, (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/csv' }).write('heading\r\n')
      responses.push(response)
    })
    const client = await sendAndClose(t, url, ownPath, version)
    await client.readUntil('heading\r\n')
    await untilProbed(t, url)
    responses[0]?.end('row\r\n')
    const rest = version === '1.1' ? '\r\n5\r\nrow\r\n\r\n0\r\n\r\n' : 'row\r\n'
    t.equal((await client.readBytes(rest.length)).toString(), rest)
    await client.ended()
    t.equal(client.rest().length, 0)
  }
})

t.test('an own answer that begins late is the first thing a client gets', async (t) => {
  const responses: ServerResponse[] = []
  const { url } = await startOwnServer(t, (_request, response) => void responses.push(response))
  const client = await sendAndClose(t, url, ownPath)
  await untilProbed(t, url)
  responses[0]?.end('late')
  t.match(await client.response(), { status: 200, body: 'late' })
  await client.ended()
})

t.test('a client that disconnected is noticed at the next write of its answer', async (t) => {
  const responses: ServerResponse[] = []
  const { url } = await startOwnServer(t, (_request, response) => {
    response.write('heading')
    responses.push(response)
  })
  const client = await sendAndClose(t, url, ownPath)
  await client.readUntil('heading')
  client.close()
  const [response] = responses
  await until('its answer is given up', () => {
    if (!response?.destroyed) response?.write('row')
    return response?.destroyed || undefined
  })
})

import type { ServerResponse } from 'node:http'
import t from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { accessTokenPath } from './support/ask.ts'
import { ownPath, startOwnServer } from './support/own-server.ts'

const nowhere = 'GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n'

t.test('a refusal ends no connection that can go on, and says keep-alive', async (t) => {
  const gateway = await startGateway(t)
  const client = await connectRaw(t, gateway.url)
  const head = `POST ${accessTokenPath} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
  const tooLarge = 'x'.repeat(70_000)
  for (const [body, status] of [
    ['Content-Length: 3\r\n\r\nabc', 400],
    ['Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n', 400],
    [`Transfer-Encoding: chunked\r\n\r\n${tooLarge.length.toString(16)}\r\n${tooLarge}\r\n0\r\n\r\n`, 413],
  ] as const) {
    const refused = await client.send(head + body).response()
    t.strictSame([refused.status, refused.headers.connection], [status, 'keep-alive'])
    t.equal((await client.send(nowhere).response()).status, 404)
  }
})

t.test('an answer of the gateway with Connection: close does close', async (t) => {
  const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
    'in a header set beforehand': (response) => response.setHeader('Connection', 'close').end('whole'),
    'in the headers given to writeHead': (response) =>
      response.writeHead(200, { connection: 'close', 'Content-Length': 5 }).end('whole'),
    'because nothing else marks the end of its body': (response) => {
      response.write('who')
      response.end('le')
    },
  }
  for (const [why, answer] of Object.entries(answers)) {
    const { url } = await startOwnServer(t, (_request, response) => answer(response))
    const client = await connectRaw(t, url)
    client.send(`GET ${ownPath} HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n`)
    const { headers, body } = await client.response()
    t.strictSame([headers.connection?.toLowerCase(), body], ['close', 'whole'], why)
    await until('it has ended, sooner than one that is kept', () => client.socket.closed, 4_000)
  }
})

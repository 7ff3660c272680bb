import t from 'tap'
import { startCannedBackend } from '../../setup/backend.ts'
import { connectProxy, headOf } from './proxies.ts'

const asks = headOf(
  'GET / HTTP/1.1',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
)

/** What a 101 says, and the status that the client gets. */
const answers: Readonly<Record<string, readonly [lines: readonly string[], status: number]>> = {
  'with Upgrade and Connection': [['Upgrade: websocket', 'Connection: Upgrade'], 101],
  'with both in any case, among other options': [
    ['UPGRADE: WebSocket', 'connection: keep-alive , upgrade'],
    101,
  ],
  'with neither Upgrade nor Connection': [[], 502],
  'without Connection': [['Upgrade: websocket'], 502],
  'without Upgrade': [['Connection: Upgrade'], 502],
  'with another protocol': [['Upgrade: h2c', 'Connection: Upgrade'], 502],
  'with a protocol that only resembles websocket': [['Upgrade: websocket2', 'Connection: Upgrade'], 502],
  'with two protocols': [['Upgrade: websocket, h2c', 'Connection: Upgrade'], 502],
  'with a Connection that does not name Upgrade': [['Upgrade: websocket', 'Connection: close'], 502],
  'with a Connection that only resembles Upgrade': [
    ['Upgrade: websocket', 'Connection: upgraded, x-upgrade'],
    502,
  ],
}

for (const [what, [lines, status]] of Object.entries(answers)) {
  t.test(`a 101 ${what} becomes a tunnel only if it begins a WebSocket`, async (t) => {
    const head = ['HTTP/1.1 101 Switching Protocols', ...lines].join('\r\n')
    const backend = await startCannedBackend(t, `${head}\r\n\r\nbehind it`)
    const client = await connectProxy(t, backend, { route: { websocket: true } })
    client.send(asks)
    const answer = await client.response()
    t.equal(answer.status, status)
    if (status === 101) t.equal(await client.readUntil('behind it'), 'behind it')
    else t.match(answer.json(), { code: 'upstream-invalid-response' })
  })
}

t.test('a 101 to a request that asked for no upgrade is 502', async (t) => {
  const head = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'
  const client = await connectProxy(t, await startCannedBackend(t, head), { route: { websocket: true } })
  client.send(headOf('GET / HTTP/1.1'))
  t.equal((await client.response()).status, 502)
})

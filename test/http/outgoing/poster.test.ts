import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import { isLocalAddress, openPoster } from '#http/outgoing/poster.ts'
import { startServer } from '../../setup/backend.ts'

interface Options {
  readonly allowsLocal?: boolean
  readonly timeoutMs?: number
  /** What the name in the URL resolves to. */
  readonly addresses?: readonly string[]
}

function poster(
  t: Test,
  url: string,
  { allowsLocal = false, timeoutMs = 5_000, addresses = [] }: Options = {},
) {
  const opened = openPoster({
    url: new URL(url),
    timeoutMs,
    allowsLocal,
    resolveName: (_name, _options, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
  })
  t.teardown(opened.close)
  return opened
}

t.test('addresses of this machine, this link and metadata services are local, in every form', async (t) => {
  for (const address of [
    ...[
      '127.0.0.1',
      '127.255.255.255',
      '0.0.0.0',
      '0.1.2.3',
      '169.254.169.254',
      '169.254.0.1',
      '100.100.100.200',
    ],
    ...[
      '168.63.129.16',
      '::',
      '::1',
      'fe80::1',
      'fe80::1%eth0',
      'febf::1',
      'fd00:ec2::254',
      '::ffff:127.0.0.1',
    ],
    ...[
      '::ffff:a9fe:a9fe',
      '64:ff9b::7f00:1',
      '64:ff9b::169.254.169.254',
      '2002:7f00:1::',
      '2002:a9fe:a9fe::1',
    ],
    ...['64:ff9b::100.100.100.200', '64:ff9b::168.63.129.16', '2002:6464:64c8::1', '2002:a83f:8110::1'],
  ])
    t.equal(isLocalAddress(address), true, address)
  for (const address of [
    ...[
      '10.0.0.1',
      '192.168.1.1',
      '128.0.0.1',
      '169.253.255.255',
      '169.255.0.0',
      '1.0.0.0',
      '100.100.100.201',
    ],
    ...['fec0::1', '2001:db8::1', 'fd00:ec2::253', '64:ff9b::808:808', '::ffff:8.8.8.8', '2002:808:808::1'],
  ])
    t.equal(isLocalAddress(address), false, address)
})

t.test(
  'a name that leads to this machine is refused before anything is sent, unless it is allowed',
  async (t) => {
    let requests = 0
    const url = await startServer(t, (request, response) => {
      requests++
      request.resume().on('end', () => response.writeHead(204).end())
    })
    const { port } = new URL(url)
    const named = `http://hooks.example.com:${port}/`
    for (const addresses of [['127.0.0.1'], ['10.255.255.1', '127.0.0.1'], ['::1'], ['169.254.169.254']])
      await t.rejects(poster(t, named, { addresses }).post('{}', {}), {
        message: /not allowed \(allowLocal\)/,
      })
    t.equal(requests, 0)
    await poster(t, named, { addresses: ['127.0.0.1'], allowsLocal: true }).post('{}', {})
    await poster(t, `http://127.0.0.1:${port}/`).post('{}', {})
    t.equal(requests, 2)
  },
)

t.test('only a 2xx is accepted, and a redirect is not followed', async (t) => {
  let status = 200
  const paths: string[] = []
  const url = await startServer(t, (request, response) => {
    paths.push(request.url ?? '')
    request
      .resume()
      .on('end', () => response.writeHead(status, { Location: '/elsewhere' }).end('x'.repeat(100_000)))
  })
  const { post } = poster(t, url)
  for (status of [200, 202, 204, 299]) await post('{}', {})
  for (status of [301, 302, 307, 308])
    await t.rejects(post('{}', {}), { message: /redirects are not followed/ })
  for (status of [400, 404, 410, 500, 503]) await t.rejects(post('{}', {}), { message: `status ${status}` })
  t.strictSame(new Set(paths), new Set(['/']))
})

t.test('a receiver that does not answer in time, or not to the end, has not accepted', async (t) => {
  const silent = await startServer(t, () => {})
  await t.rejects(poster(t, silent, { timeoutMs: 50 }).post('{}', {}), { message: /within 0.05 s/ })
  const trickling = await startServer(t, (_request, response) => void response.writeHead(200).write('x'))
  await t.rejects(poster(t, trickling, { timeoutMs: 50 }).post('{}', {}), { message: /within 0.05 s/ })
  const resetting = createServer((socket) => socket.on('data', () => socket.destroy()))
  await new Promise<void>((resolve) => void resetting.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void resetting.close())
  // The cast is sound: it listens on a port.
  const { port } = resetting.address() as { port: number }
  await t.rejects(poster(t, `http://127.0.0.1:${port}`).post('{}', {}))
})

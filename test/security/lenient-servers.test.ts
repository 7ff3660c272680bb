import t, { type Test } from 'tap'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { connectRaw } from '../setup/raw-client.ts'
import {
  furtherServers,
  isInstalled,
  type LenientServer,
  requiredServers,
  type ServerKind,
  startLenientServer,
} from './support/lenient-servers.ts'

const hidden = 'GET /admin/secret HTTP/1.1\r\nHost: x\r\n\r\n'
const chunkOfHidden = `${hidden.length.toString(16)}\r\n${hidden}\r\n`
const counted = `Content-Length: ${hidden.length}`
const chunked = 'Transfer-Encoding: chunked'
/** A field name, a colon and a value make a request line for a server that takes any method. */
const trailers = [
  'X: /admin/secret HTTP/1.0',
  'A: b\r\nX: /admin/secret HTTP/1.0',
  'A: b\r\nX: /admin/secret HTTP/1.1\r\nHost: x',
]

type Attack = readonly [method: string, suffix: string, lines: readonly string[], body: string]

/** Requests of which some server reads a part as the next request, or answers with more than one answer. */
const attacks: Readonly<Record<string, Attack>> = {
  ...Object.fromEntries(
    trailers.flatMap((section, index) =>
      ['/read', ''].map((suffix) => [
        `trailer section ${index} at ${suffix || 'an application that reads nothing'}`,
        ['POST', suffix, [chunked], `2\r\nok\r\n0\r\n${section}\r\n\r\n`] as const,
      ]),
    ),
  ),
  'announced trailers': ['POST', '/read', [chunked, 'Trailer: X'], `2\r\nok\r\n0\r\n${trailers[0]}\r\n\r\n`],
  'chunks that nobody reads': ['POST', '', [chunked], `${chunkOfHidden}0\r\n\r\n`],
  'chunks of a GET': ['GET', '', [chunked], `${chunkOfHidden}0\r\n\r\n`],
  'an expected body that nobody reads': ['POST', '', [counted, 'Expect: 100-continue'], hidden],
  'an expected body of a GET': ['GET', '', [counted, 'Expect: 100-continue'], hidden],
  'expected chunks': ['POST', '', [chunked, 'Expect: 100-continue'], `${chunkOfHidden}0\r\n\r\n`],
  'an expected body in capitals': ['POST', '', [counted, 'EXPECT: 100-CONTINUE'], hidden],
  'an odd expectation': ['POST', '', [counted, 'Expect: y 100-continue'], hidden],
  'an expected body that is read': ['POST', '/read', [counted, 'Expect: 100-continue'], hidden],
  'a body that nobody reads': ['POST', '', [counted], hidden],
  'the body of a GET': ['GET', '', [counted], hidden],
  'the body of a HEAD': ['HEAD', '', [counted], hidden],
  'an upgrade that is none': [
    'POST',
    '',
    [counted, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'],
    hidden,
  ],
  'a body answered to HEAD': ['HEAD', '', [], ''],
  'a body answered with 304': ['GET', '/unchanged', [], ''],
}

/** Method and path of every request that a client has sent. */
const sent = new Set<string>()

/** The method and a path that nobody else asks for. */
function newRequest(method: string, suffix: string): string {
  const request = `${method} /pub/${sent.size}${suffix}`
  sent.add(request)
  return request
}

async function start(t: Test, kind: ServerKind) {
  const server = await startLenientServer(t, kind)
  const gateway = await startGateway(t, {
    config: {
      upstreams: {
        backend: { targets: [{ url: server.url }], health: { passive: { maxFailures: 1_000 } } },
      },
      routes: [
        { name: 'public', path: '/pub', upstream: 'backend', auth: 'none' },
        { name: 'admin', path: '/admin', upstream: 'backend', auth: 'any', roles: ['Admin'] },
      ],
    },
  })
  return { server, gateway }
}

async function attack(t: Test, { url }: TestGateway, [method, suffix, lines, body]: Attack): Promise<void> {
  const client = await connectRaw(t, url)
  const head = [`${newRequest(method, suffix)} HTTP/1.1`, 'Host: x', ...lines].join('\r\n')
  client.send(`${head}\r\n\r\n${body}`)
  let { status } = await client.response(method === 'HEAD')
  while (status < 200) status = (await client.response(method === 'HEAD')).status
  client.close()
}

/** Other clients who ask right after it. @returns those that did not get their own answer */
async function misled(t: Test, { url }: TestGateway): Promise<readonly string[]> {
  const wrong: string[] = []
  for (let next = 0; next < 3; next++) {
    const request = newRequest('GET', '')
    const path = request.slice('GET '.length)
    const client = await connectRaw(t, url)
    client.send(`${request} HTTP/1.1\r\nHost: x\r\n\r\n`)
    const { status, body } = await client.response()
    if (status !== 200 || body !== path) wrong.push(`${path} got ${status} ${body}`)
    client.close()
  }
  return wrong
}

/** What has run that no client asked for. */
function smuggled({ ran }: LenientServer): readonly string[] {
  return ran().filter((line) => !sent.has(line))
}

function guard(t: Test, kind: ServerKind): void {
  t.test(`${kind.name} gets only authorised requests, and no client another's answer`, async (t) => {
    const { server, gateway } = await start(t, kind)
    for (const [name, each] of Object.entries(attacks)) {
      await attack(t, gateway, each)
      t.strictSame(await misled(t, gateway), [], `clients after ${name}`)
      t.strictSame(smuggled(server), [], name)
    }
    t.ok(server.ran().length > Object.keys(attacks).length, 'the server has served')
  })
}

for (const kind of requiredServers) guard(t, kind)
for (const kind of furtherServers) {
  const { name, debianPackage } = kind
  if (isInstalled(kind)) guard(t, kind)
  else t.test(name, { skip: `not installed, so not tried: apt-get install ${debianPackage}` }, async () => {})
}

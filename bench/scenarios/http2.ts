import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench, GatewayKind } from '../bench.ts'
import { h2Connections, h2Streams, runH2load } from '../load/h2load.ts'
import { cores, startModule } from '../processes.ts'
import type { ReadyMessage } from '../report-url.ts'
import type { Gatehouse } from '../subjects/gatehouse.ts'
import { isInstalled } from '../subjects/peers.ts'
import type { Subject } from '../subjects/subject.ts'
import { observed } from './contestants.ts'
import { assertCalls } from './grpc-call.ts'
import { loadFigures, measureClosed } from './load-figures.ts'
import { bearers, freshH2Fields, keysOf } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

const shared = {
  figures: loadFigures,
  compared: 'cpuUs',
  load: { by: `h2load, ${h2Streams} streams on each`, connections: h2Connections },
} satisfies Partial<Scenario>

const bearerAlways =
  'Answers of 15 bytes. h2load sends the same head each time: one token or key. The upstream speaks HTTP/1.1. '

export const http2: Scenario = {
  ...shared,
  summary: 'Small GET over HTTP/2 without TLS (h2c, prior knowledge)',
  yardsticks: ['haproxy-h2', 'bare-h2', 'relay-h2'],
  note: `${bearerAlways}\`bare-h2\` and \`relay-h2\` show what node:http2 costs without a gateway.`,
  open: openSmallGet,
}

export const http2Tls: Scenario = {
  ...shared,
  load: { by: `node:http2, ${h2Streams} streams on each`, connections: h2Connections },
  summary: 'Fresh heads over HTTP/2 and TLS',
  yardsticks: ['haproxy-h2-tls', 'bare-h2-tls', 'relay-h2-tls'],
  note:
    'Heads of a browser as in `fresh-heads`, with the access log; 200 tokens or keys in turn. h2load cannot send them: the ' +
    'load is made by Node, which seldom keeps the core of a subject busy. The upstream speaks HTTP/1.1. A certificate on ' +
    'P-256, the default protocols and ciphers of each.',
  open: openFreshTls,
}

export const grpc: Scenario = {
  ...shared,
  summary: 'gRPC: unary calls, HTTP/2 on both sides without TLS',
  yardsticks: ['haproxy-grpc', 'bare-h2'],
  note:
    'Messages of 15 bytes, responses with trailers; one token or key. The upstream is as cheap as possible, and sends ' +
    'the same frames each time. `bare-h2` answers by itself.',
  open: openGrpc,
}

type Headers = Readonly<Record<string, string>>

/** What authenticates a request, by its name. */
function credentialsOf({ credentials }: Gatehouse): Readonly<Record<string, Headers>> {
  const [token = ''] = credentials.accessTokens
  const [key = ''] = credentials.secretKeys
  return { bearer: { authorization: `Bearer ${token}` }, key: { secretkey: key } }
}

async function openSmallGet(bench: Bench): Promise<readonly Contestant[]> {
  assertH2load()
  const [own] = bench.gateways
  const measure = ({ url, pids }: Subject, path: string, headers: Headers) =>
    measureClosed(pids, () =>
      runH2load({ url: `${url}${path}`, headers, durationMs: bench.options.durationMs }),
    )
  const { bearer = {} } = credentialsOf(await bench.gateway(own))
  const found: Contestant[] = []
  for (const name of bench.available(['bare-h2', 'relay-h2', 'haproxy-h2'])) {
    const subject = await bench.peer(name)
    found.push({ name, measure: () => measure(subject, '/any', bearer) })
  }
  for (const { kind, subject } of await openGateways(bench, {})) {
    found.push({ name: `${kind.label}: auth none`, measure: () => measure(subject, '/public', {}) })
    for (const [way, headers] of Object.entries(credentialsOf(subject)))
      found.push({ name: `${kind.label}: ${way}`, measure: () => measure(subject, '/any', headers) })
  }
  return found
}

async function openFreshTls(bench: Bench): Promise<readonly Contestant[]> {
  const [own] = bench.gateways
  const config = observed
  const measure = ({ url, pids }: Subject, path: string, credentials: readonly Headers[]) =>
    measureClosed(pids, () =>
      bench.load<'closedH2'>({
        kind: 'closedH2',
        url: `${url}${path}`,
        fields: credentials.map(freshH2Fields),
        connections: h2Connections,
        streams: h2Streams,
        durationMs: bench.options.durationMs,
      }),
    )
  const { credentials } = await bench.gateway(own, { config, isTls: true })
  const found: Contestant[] = []
  for (const name of bench.available(['bare-h2-tls', 'relay-h2-tls', 'haproxy-h2-tls', 'nginx-h2-tls'])) {
    const subject = await bench.peer(name)
    found.push({ name, measure: () => measure(subject, '/any', bearers(credentials.accessTokens)) })
  }
  for (const { kind, subject } of await openGateways(bench, { config, isTls: true })) {
    const { accessTokens, secretKeys } = subject.credentials
    const add = (way: string, path: string, sent: readonly Headers[]) =>
      found.push({ name: `${kind.label}: ${way}`, measure: () => measure(subject, path, sent) })
    add('auth none', '/public', [{}])
    add('bearer', '/any', bearers(accessTokens))
    add('key', '/any', keysOf(secretKeys))
  }
  return found
}

async function openGateways(bench: Bench, changes: Parameters<Bench['gateway']>[1]) {
  const found: { readonly kind: GatewayKind; readonly subject: Gatehouse }[] = []
  for (const kind of bench.gateways) found.push({ kind, subject: await bench.gateway(kind, changes) })
  return found
}

async function openGrpc(bench: Bench): Promise<readonly Contestant[]> {
  assertH2load()
  const { scope, options } = bench
  const { ready } = await startModule<ReadyMessage>(scope, { core: cores.load, file: 'grpc-upstream.ts' })
  const config = {
    upstreams: { backend: { targets: [{ url: ready.url }], protocol: 'http2', connections: 10_000 } },
    routes: [{ name: 'any', path: '/any', auth: 'any', upstream: 'backend' }],
  }
  const bodyFile = writeMessage(bench)
  async function contestant(name: string, subject: Subject, credentials: Headers): Promise<Contestant> {
    const url = `${subject.url}/any/Echo`
    const headers = { 'content-type': 'application/grpc', te: 'trailers', ...credentials }
    await assertCalls(url, headers)
    const order = { url, headers, bodyFile, durationMs: options.durationMs }
    return { name, measure: () => measureClosed(subject.pids, () => runH2load(order)) }
  }
  const found: Contestant[] = []
  for (const name of bench.available(['bare-h2', 'haproxy-grpc']))
    found.push(await contestant(name, await bench.peer(name), {}))
  for (const { kind, subject } of await openGateways(bench, { config }))
    for (const [way, headers] of Object.entries(credentialsOf(subject)))
      found.push(await contestant(`${kind.label}: ${way}`, subject, headers))
  return found
}

/** @returns a file with a message as gRPC frames it */
function writeMessage({ scope }: Bench): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-grpc-'))
  scope.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'message')
  const text = '{"hello":"you"}'
  writeFileSync(file, Buffer.concat([Buffer.from([0, 0, 0, 0, text.length]), Buffer.from(text)]))
  return file
}

export function assertH2load(): void {
  if (!isInstalled('h2load')) throw new Error('h2load is not on PATH (apt-get install nghttp2-client)')
}

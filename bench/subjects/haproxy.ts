import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../test/setup/net.ts'
import { cores, startModule, startProgram } from '../processes.ts'
import type { ReadyMessage } from '../report-url.ts'
import type { Scope } from '../scope.ts'
import { type Subject, type SubjectOptions, untilListening } from './subject.ts'
import { makeTlsFiles } from './tls-files.ts'

/** HAProxy as a plain proxy: one thread, keep-alive connections to the upstream. */
export function startHaproxy({ scope, upstreamUrl }: SubjectOptions): Promise<Subject> {
  return startWith(scope, { upstreamUrl, rules: () => [] })
}

/** Events and other small data go on at once, rather than up to 200 ms later. */
export function startHaproxyNoDelay({ scope, upstreamUrl }: SubjectOptions): Promise<Subject> {
  return startWith(scope, { upstreamUrl, rules: () => ['option http-no-delay'] })
}

/** The plain one with TLS towards clients. */
export function startHaproxyTls({ scope, upstreamUrl }: SubjectOptions): Promise<Subject> {
  return startWith(scope, { upstreamUrl, rules: () => [], certFile: makeTlsFiles(scope).bothFile })
}

/** The plain one with HTTP/2 towards clients: by prior knowledge. */
export function startHaproxyH2({ scope, upstreamUrl }: SubjectOptions): Promise<Subject> {
  return startWith(scope, { upstreamUrl, rules: () => [], bindOptions: 'proto h2' })
}

/** The same with TLS. */
export function startHaproxyH2Tls({ scope, upstreamUrl }: SubjectOptions): Promise<Subject> {
  const { bothFile } = makeTlsFiles(scope)
  return startWith(scope, { upstreamUrl, rules: () => [], certFile: bothFile, bindOptions: 'alpn h2' })
}

/** HTTP/2 on both sides, by prior knowledge, before an upstream of its own for gRPC. */
export async function startHaproxyGrpc({ scope }: SubjectOptions): Promise<Subject> {
  const { ready } = await startModule<ReadyMessage>(scope, { core: cores.load, file: 'grpc-upstream.ts' })
  const versions = { bindOptions: 'proto h2', serverOptions: 'proto h2' }
  return startWith(scope, { upstreamUrl: ready.url, rules: () => [], ...versions })
}

/** HAProxy that verifies the ES256 signature of every token (2.5 or newer). */
export function startHaproxyJwt({ scope, upstreamUrl, credentials }: SubjectOptions): Promise<Subject> {
  return startWith(scope, {
    upstreamUrl,
    rules: (dir) => {
      const key = join(dir, 'public.pem')
      writeFileSync(key, credentials.publicKey)
      return [
        "http-request deny unless { http_auth_bearer,jwt_header_query('$.alg') -m str ES256 }",
        `http-request deny unless { http_auth_bearer,jwt_verify("ES256","${key}") -m int 1 }`,
      ]
    },
  })
}

interface HaproxyOptions {
  readonly upstreamUrl: string
  /** Rules of the frontend; their files go into the folder. */
  rules(dir: string): readonly string[]
  /** Certificate and key; absent = plain HTTP. */
  readonly certFile?: string
  /** Towards clients. */
  readonly bindOptions?: string
  /** Towards the upstream. */
  readonly serverOptions?: string
}

async function startWith(scope: Scope, options: HaproxyOptions): Promise<Subject> {
  const { upstreamUrl, rules, certFile, bindOptions = '', serverOptions = '' } = options
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-haproxy-'))
  scope.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const port = await freePort()
  const file = join(dir, 'haproxy.cfg')
  const tls = certFile === undefined ? '' : `ssl crt ${certFile}`
  const bind = `127.0.0.1:${port} backlog 4096 ${tls} ${bindOptions}`
  const server = `${new URL(upstreamUrl).host} ${serverOptions}`
  writeFileSync(file, configOf({ bind, server, rules: rules(dir) }))
  const { pid } = startProgram(scope, { core: cores.subject, command: ['haproxy', '-db', '-f', file] })
  const url = `${certFile === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  await untilListening(url)
  return { url, pids: [pid] }
}

interface HaproxyConfig {
  readonly bind: string
  readonly server: string
  readonly rules: readonly string[]
}

function configOf({ bind, server, rules }: HaproxyConfig): string {
  const lines = [
    'global',
    '  nbthread 1',
    'defaults',
    '  mode http',
    '  option forwardfor',
    // Its best: else each client connection gets one to the upstream of its own.
    '  http-reuse always',
    '  timeout connect 5s',
    '  timeout client 120s',
    '  timeout server 120s',
    '  timeout tunnel 600s',
    'frontend front',
    `  bind ${bind}`,
    ...rules.map((rule) => `  ${rule}`),
    '  default_backend back',
    'backend back',
    `  server upstream ${server}`,
  ]
  return `${lines.join('\n')}\n`
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../test/setup/net.ts'
import { cores, startProgram } from '../processes.ts'
import type { Scope } from '../scope.ts'
import { type Subject, type SubjectOptions, untilListening } from './subject.ts'
import { makeTlsFiles } from './tls-files.ts'

/** HAProxy as a plain proxy: one thread, keep-alive connections to the upstream. */
export function startHaproxy({ scope, upstreamUrl }: SubjectOptions): Promise<Subject> {
  return startWith(scope, { upstreamUrl, rules: () => [] })
}

/** The same with TLS towards clients. */
export function startHaproxyTls({ scope, upstreamUrl }: SubjectOptions): Promise<Subject> {
  return startWith(scope, { upstreamUrl, rules: () => [], certFile: makeTlsFiles(scope).bothFile })
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
}

async function startWith(scope: Scope, { upstreamUrl, rules, certFile }: HaproxyOptions): Promise<Subject> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-haproxy-'))
  scope.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const port = await freePort()
  const file = join(dir, 'haproxy.cfg')
  writeFileSync(file, configOf({ port, upstream: new URL(upstreamUrl).host, certFile, rules: rules(dir) }))
  const { pid } = startProgram(scope, { core: cores.subject, command: ['haproxy', '-db', '-f', file] })
  const url = `${certFile === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  await untilListening(url)
  return { url, pids: [pid] }
}

interface HaproxyConfig {
  readonly port: number
  readonly upstream: string
  readonly certFile: string | undefined
  readonly rules: readonly string[]
}

function configOf({ port, upstream, certFile, rules }: HaproxyConfig): string {
  const lines = [
    'global',
    '  nbthread 1',
    'defaults',
    '  mode http',
    '  option forwardfor',
    '  timeout connect 5s',
    '  timeout client 120s',
    '  timeout server 120s',
    '  timeout tunnel 600s',
    'frontend front',
    `  bind 127.0.0.1:${port} backlog 4096${certFile === undefined ? '' : ` ssl crt ${certFile}`}`,
    ...rules.map((rule) => `  ${rule}`),
    '  default_backend back',
    'backend back',
    `  server upstream ${upstream}`,
  ]
  return `${lines.join('\n')}\n`
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../test/setup/net.ts'
import { cores, startModule, startProgram } from '../processes.ts'
import type { ReadyMessage } from '../report-url.ts'
import type { Scope } from '../scope.ts'
import { type Subject, type SubjectOptions, untilListening } from './subject.ts'
import { makeTlsFiles } from './tls-files.ts'

/** nginx as a plain proxy: one worker, keep-alive connections to the upstream, bodies streamed both ways. */
export function startNginx({ scope, upstreamUrl }: SubjectOptions): Promise<Subject> {
  return startWith(scope, upstreamUrl, { inLocation: [], inServer: [], inHttp: [] })
}

/** The same with TLS towards clients. */
export function startNginxTls(place: SubjectOptions): Promise<Subject> {
  return startTls(place, 'ssl')
}

/** The same with HTTP/2 over TLS towards clients. */
export function startNginxH2Tls(place: SubjectOptions): Promise<Subject> {
  return startTls(place, 'ssl http2')
}

function startTls({ scope, upstreamUrl }: SubjectOptions, tls: Directives['tls']): Promise<Subject> {
  const { certFile, keyFile } = makeTlsFiles(scope)
  const inServer = [`ssl_certificate ${certFile}; ssl_certificate_key ${keyFile};`]
  return startWith(scope, upstreamUrl, { inLocation: [], inServer, inHttp: [], tls })
}

/** nginx that asks a small service about every request; the service is measured as a part of it. */
export function startNginxAuth(place: SubjectOptions): Promise<Subject> {
  return startWithService(place, { inLocation: [], inHttp: [] })
}

/** The same, with the responses of the service cached by token. */
export function startNginxAuthCached(place: SubjectOptions): Promise<Subject> {
  return startWithService(place, cachedByToken)
}

const cachedByToken = {
  inLocation: [
    'proxy_cache answers;',
    'proxy_cache_key $http_authorization;',
    'proxy_cache_valid any 10m;',
    'proxy_ignore_headers Cache-Control Expires;',
  ],
  inHttp: ['proxy_cache_path cache keys_zone=answers:10m;'],
}

/** What nginx asks about each request, as in deploy/proxies/nginx-auth-request.conf. */
export interface Asked {
  readonly url: string
  readonly pids: readonly number[]
  /** Whether nginx keeps the answers, by token. */
  readonly isCached: boolean
}

/** nginx with the lines that a decision needs: it describes the request, and sets the identity of the answer. */
export async function startNginxAsking(
  { scope, upstreamUrl }: Omit<SubjectOptions, 'credentials'>,
  { url, pids, isCached }: Asked,
): Promise<Subject> {
  const { inLocation, inHttp } = isCached ? cachedByToken : { inLocation: [], inHttp: [] }
  const subject = await startWith(scope, upstreamUrl, {
    inHttp: [...inHttp, `upstream service { server ${new URL(url).host}; keepalive 64; }`],
    inLocation: [
      'auth_request /auth;',
      'auth_request_set $caller $upstream_http_x_user_id; auth_request_set $caller_role $upstream_http_x_user_role;',
      'auth_request_set $caller_request $upstream_http_x_request_id;',
      'proxy_set_header X-User-Id $caller; proxy_set_header X-User-Role $caller_role; proxy_set_header X-Request-Id $caller_request;',
      'proxy_set_header Authorization ""; proxy_set_header SecretKey "";',
    ],
    inServer: [
      'location = /auth { internal; proxy_pass http://service/decide?deny=403;',
      'proxy_pass_request_body off; proxy_set_header Content-Length "";',
      'proxy_http_version 1.1; proxy_set_header Connection "";',
      'proxy_set_header X-Forwarded-Method $request_method; proxy_set_header X-Forwarded-Proto $scheme;',
      'proxy_set_header X-Forwarded-Host $host; proxy_set_header X-Forwarded-Uri $request_uri;',
      'proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Request-Id "";',
      ...inLocation,
      '}',
    ],
  })
  return { url: subject.url, pids: [...subject.pids, ...pids] }
}

async function startWithService(
  { scope, upstreamUrl, credentials }: SubjectOptions,
  { inLocation, inHttp }: { readonly inLocation: readonly string[]; readonly inHttp: readonly string[] },
): Promise<Subject> {
  const service = await startModule<ReadyMessage>(scope, {
    core: cores.subject,
    file: 'subjects/auth-service.ts',
    args: [credentials.publicKey],
  })
  const subject = await startWith(scope, upstreamUrl, {
    inHttp: [...inHttp, `upstream service { server ${new URL(service.ready.url).host}; keepalive 64; }`],
    inLocation: ['auth_request /auth;'],
    inServer: [
      'location = /auth { internal; proxy_pass http://service;',
      'proxy_pass_request_body off; proxy_set_header Content-Length "";',
      'proxy_http_version 1.1; proxy_set_header Connection "";',
      ...inLocation,
      '}',
    ],
  })
  return { url: subject.url, pids: [...subject.pids, service.child.pid] }
}

/** Directives in addition to those of a plain proxy. */
interface Directives {
  readonly inHttp: readonly string[]
  readonly inServer: readonly string[]
  readonly inLocation: readonly string[]
  /** Options of `listen`; undefined = plain HTTP. */
  readonly tls?: 'ssl' | 'ssl http2' | undefined
}

async function startWith(scope: Scope, upstreamUrl: string, directives: Directives): Promise<Subject> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-nginx-'))
  scope.teardown(() => rmSync(dir, { recursive: true, force: true }))
  mkdirSync(join(dir, 'logs'))
  const port = await freePort()
  writeFileSync(join(dir, 'nginx.conf'), configOf(port, new URL(upstreamUrl).host, directives))
  const command = ['nginx', '-p', dir, '-e', 'logs/error.log', '-c', 'nginx.conf']
  const { pid } = startProgram(scope, { core: cores.subject, command })
  const url = `${directives.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  await untilListening(url)
  return { url, pids: [pid] }
}

const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
  (name) => `${name}_temp_path ${name};`,
)

function configOf(port: number, upstream: string, { inHttp, inServer, inLocation, tls }: Directives): string {
  return [
    'daemon off; master_process off; pid nginx.pid; error_log logs/error.log crit;',
    // More than its file limit allows: when few are left it closes connections whose request has not arrived yet.
    'events { worker_connections 40000; }',
    `http { access_log off; keepalive_requests 1000000000; ${temporary.join(' ')}`,
    'map $http_upgrade $connection_upgrade { default upgrade; "" ""; }',
    `upstream back { server ${upstream}; keepalive 128; keepalive_requests 1000000000; }`,
    ...inHttp,
    `server { listen 127.0.0.1:${port} backlog=4096 ${tls ?? ''}; client_max_body_size 0;`,
    ...inServer,
    'location / { proxy_pass http://back; proxy_http_version 1.1; proxy_request_buffering off;',
    'proxy_max_temp_file_size 0; proxy_read_timeout 600s; proxy_set_header Upgrade $http_upgrade;',
    'proxy_set_header Connection $connection_upgrade;',
    ...inLocation,
    '} } }',
  ].join('\n')
}

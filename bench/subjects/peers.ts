import { spawnSync } from 'node:child_process'
import { cores, startModule } from '../processes.ts'
import type { ReadyMessage } from '../report-url.ts'
import * as haproxy from './haproxy.ts'
import * as nginx from './nginx.ts'
import type { Subject, SubjectOptions } from './subject.ts'
import { makeTlsFiles } from './tls-files.ts'

/** What the gateway is compared with. */
export interface Peer {
  readonly summary: string
  /** The program it requires on PATH; undefined = it is a package of this checkout. */
  readonly program: string | undefined
  start(place: SubjectOptions): Promise<Subject>
}

export const peerNames = [
  'bare',
  'haproxy',
  'haproxy-tls',
  'haproxy-no-delay',
  'haproxy-jwt',
  'nginx',
  'nginx-tls',
  'nginx-auth',
  'nginx-auth-cached',
  'http-proxy',
  'relay',
  'relay-tls',
  'minimal-proxy',
  'minimal-proxy-tls',
  'bare-h2',
  'bare-h2-tls',
  'relay-h2',
  'relay-h2-tls',
  'haproxy-h2',
  'haproxy-h2-tls',
  'haproxy-grpc',
  'nginx-h2-tls',
] as const

export type PeerName = (typeof peerNames)[number]

export const peers: Readonly<Record<PeerName, Peer>> = {
  bare: {
    summary: 'a bare node:http answer, which forwards nothing: the yardstick',
    program: undefined,
    start: ({ scope }) => startOwn('subjects/bare.ts', scope, []),
  },
  haproxy: { summary: 'HAProxy, plain', program: 'haproxy', start: haproxy.startHaproxy },
  'haproxy-no-delay': {
    summary: 'HAProxy, plain, with `option http-no-delay`: it forwards at once what arrives',
    program: 'haproxy',
    start: haproxy.startHaproxyNoDelay,
  },
  'haproxy-tls': { summary: 'HAProxy, plain, TLS', program: 'haproxy', start: haproxy.startHaproxyTls },
  'haproxy-jwt': { summary: 'HAProxy, jwt_verify ES256', program: 'haproxy', start: haproxy.startHaproxyJwt },
  nginx: { summary: 'nginx, plain', program: 'nginx', start: nginx.startNginx },
  'nginx-tls': { summary: 'nginx, plain, TLS', program: 'nginx', start: nginx.startNginxTls },
  'nginx-auth': { summary: 'nginx, auth_request', program: 'nginx', start: nginx.startNginxAuth },
  'nginx-auth-cached': {
    summary: 'nginx, auth_request with cached answers',
    program: 'nginx',
    start: nginx.startNginxAuthCached,
  },
  'http-proxy': {
    summary: '@fastify/http-proxy without authentication',
    program: undefined,
    start: ({ scope, upstreamUrl }) => startOwn('subjects/http-proxy.ts', scope, [upstreamUrl]),
  },
  relay: {
    summary: 'a bare node:net relay: two sockets for each client, and nothing else',
    program: undefined,
    start: ({ scope, upstreamUrl }) => startOwn('subjects/relay.ts', scope, [upstreamUrl]),
  },
  'relay-tls': {
    summary: 'the same, TLS towards clients',
    program: undefined,
    start: ({ scope, upstreamUrl }) => startOwnTls('subjects/relay.ts', scope, [upstreamUrl]),
  },
  'minimal-proxy': {
    summary: 'requests and answers in one piece, forwarded unchecked on kept connections: the least in Node',
    program: undefined,
    start: ({ scope, upstreamUrl }) => startOwn('subjects/minimal-proxy.ts', scope, [upstreamUrl]),
  },
  'minimal-proxy-tls': {
    summary: 'the same, TLS towards clients',
    program: undefined,
    start: ({ scope, upstreamUrl }) => startOwnTls('subjects/minimal-proxy.ts', scope, [upstreamUrl]),
  },
  'bare-h2': {
    summary: 'a bare node:http2 answer, which forwards nothing: what node:http2 itself costs',
    program: undefined,
    start: ({ scope }) => startOwn('subjects/bare-h2.ts', scope, []),
  },
  'bare-h2-tls': {
    summary: 'the same, TLS',
    program: undefined,
    start: ({ scope }) => startOwnTls('subjects/bare-h2.ts', scope, []),
  },
  'relay-h2': {
    summary:
      'node:http2 before kept HTTP/1.1 connections, nothing parsed: the least that a proxy on it costs',
    program: undefined,
    start: ({ scope, upstreamUrl }) => startOwn('subjects/relay-h2.ts', scope, [upstreamUrl]),
  },
  'relay-h2-tls': {
    summary: 'the same, TLS',
    program: undefined,
    start: ({ scope, upstreamUrl }) => startOwnTls('subjects/relay-h2.ts', scope, [upstreamUrl]),
  },
  'haproxy-h2': {
    summary: 'HAProxy, plain, HTTP/2 to HTTP/1.1',
    program: 'haproxy',
    start: haproxy.startHaproxyH2,
  },
  'haproxy-h2-tls': {
    summary: 'the same, TLS',
    program: 'haproxy',
    start: haproxy.startHaproxyH2Tls,
  },
  'haproxy-grpc': {
    summary: 'HAProxy, plain, HTTP/2 to HTTP/2',
    program: 'haproxy',
    start: haproxy.startHaproxyGrpc,
  },
  'nginx-h2-tls': {
    summary: 'nginx, plain, HTTP/2 over TLS to HTTP/1.1',
    program: 'nginx',
    start: nginx.startNginxH2Tls,
  },
}

/** Whether a program is on PATH. */
export function isInstalled(program: string): boolean {
  return spawnSync(program, ['-v'], { stdio: 'ignore' }).error === undefined
}

async function startOwn(
  file: string,
  scope: SubjectOptions['scope'],
  args: readonly string[],
): Promise<Subject> {
  const { child, ready } = await startModule<ReadyMessage>(scope, { core: cores.subject, file, args })
  return { url: ready.url, pids: [child.pid] }
}

/** @param args before the files of certificate and key */
async function startOwnTls(
  file: string,
  scope: SubjectOptions['scope'],
  args: readonly string[],
): Promise<Subject> {
  const { certFile, keyFile } = makeTlsFiles(scope)
  const { url, pids } = await startOwn(file, scope, [...args, certFile, keyFile])
  return { url: url.replace('http:', 'https:'), pids }
}

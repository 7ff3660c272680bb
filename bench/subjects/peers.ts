import { spawnSync } from 'node:child_process'
import { cores, startModule } from '../processes.ts'
import type { ReadyMessage } from '../report-url.ts'
import { startHaproxy, startHaproxyJwt, startHaproxyTls } from './haproxy.ts'
import { startNginx, startNginxAuth, startNginxAuthCached, startNginxTls } from './nginx.ts'
import type { Subject, SubjectOptions } from './subject.ts'

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
  'haproxy-jwt',
  'nginx',
  'nginx-tls',
  'nginx-auth',
  'nginx-auth-cached',
  'http-proxy',
  'relay',
] as const

export type PeerName = (typeof peerNames)[number]

export const peers: Readonly<Record<PeerName, Peer>> = {
  bare: {
    summary: 'a bare node:http answer, which forwards nothing: the yardstick',
    program: undefined,
    start: ({ scope }) => startOwn('subjects/bare.ts', scope, []),
  },
  haproxy: { summary: 'HAProxy, plain', program: 'haproxy', start: startHaproxy },
  'haproxy-tls': { summary: 'HAProxy, plain, TLS', program: 'haproxy', start: startHaproxyTls },
  'haproxy-jwt': { summary: 'HAProxy, jwt_verify ES256', program: 'haproxy', start: startHaproxyJwt },
  nginx: { summary: 'nginx, plain', program: 'nginx', start: startNginx },
  'nginx-tls': { summary: 'nginx, plain, TLS', program: 'nginx', start: startNginxTls },
  'nginx-auth': { summary: 'nginx, auth_request', program: 'nginx', start: startNginxAuth },
  'nginx-auth-cached': {
    summary: 'nginx, auth_request with cached answers',
    program: 'nginx',
    start: startNginxAuthCached,
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

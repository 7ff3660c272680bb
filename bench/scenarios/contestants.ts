import type { Bench } from '../bench.ts'
import type { PeerName } from '../subjects/peers.ts'
import type { Subject } from '../subjects/subject.ts'
import type { Contestant, Figures } from './scenario.ts'

/** A header line that authenticates a request to a gateway; empty for peers, which require none. */
export type Authorization = Readonly<Record<string, string>>

/** With the access log, which gateways of the field have on. */
export const observed = { log: { level: 'info', access: true } }

/** Under them Node refuses its internals, and nothing else that the gateway does. */
export const withoutInternals = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*', '--allow-net']
/** What `streams only` in the name of a contestant means. */
export const streamsOnly =
  '`streams only`: Node gives no access to what lies below its streams (`node --permission`).'

/** A config of the gateway that may open so many connections to the upstream. */
export function withConnections({ upstreamUrl }: Bench, connections: number): object {
  return { upstreams: { backend: { targets: [{ url: upstreamUrl }], connections } } }
}

/**
 * The peers of a list and every gateway, all measured in the same way.
 * @param config of the gateways
 */
export async function createContestants(
  bench: Bench,
  peerNames: readonly PeerName[],
  measure: (subject: Subject, authorization: Authorization) => Promise<Figures>,
  config?: object,
): Promise<readonly Contestant[]> {
  const found: Contestant[] = []
  for (const name of bench.available(peerNames)) {
    const subject = await bench.peer(name)
    found.push({ name, measure: () => measure(subject, {}) })
  }
  for (const kind of bench.gateways) {
    const subject = await bench.gateway(kind, config ? { config } : {})
    const authorization = { Authorization: `Bearer ${subject.credentials.accessTokens[0]}` }
    found.push({ name: kind.label, measure: () => measure(subject, authorization) })
  }
  return found
}

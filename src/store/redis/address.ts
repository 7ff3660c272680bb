import type { RedisOptions } from './client.ts'

/** The address of Redis for an operator, without user and password. */
export function addressOf(topology: RedisOptions['topology']): string {
  switch (topology.kind) {
    case 'single':
      return `Redis at ${hostOf(topology.url)}`
    case 'sentinel':
      return `Redis "${topology.name}" (Sentinels ${nodesOf(topology)})`
    case 'cluster':
      return `Redis Cluster at ${nodesOf(topology)}`
    default:
      return topology satisfies never
  }
}

function hostOf(url: string): string {
  if (!URL.canParse(url)) return 'the configured URL'
  const { hostname, port } = new URL(url)
  return `${hostname}:${port === '' ? 6379 : port}`
}

function nodesOf({
  nodes,
}: {
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
}): string {
  return nodes
    .map(({ host, port }) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`))
    .join(', ')
}

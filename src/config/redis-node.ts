import type { NodeAddress } from '../store/redis/client.ts'

/** `host:port` or `[address]:port`; undefined if the text is neither. */
export function parseRedisNode(text: string): NodeAddress | undefined {
  const [, address, name, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/@[\]]+)):(\d{1,5})$/.exec(text) ?? []
  const host = address ?? name
  const port = Number(digits)
  return host !== undefined && port >= 1 && port <= 65_535 ? { host, port } : undefined
}

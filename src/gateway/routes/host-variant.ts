/**
 * The host name that some servers read a name as: without the dots at its end (RFC 1034 3.1), and with its escapes
 * decoded (RFC 3986 3.2.2); undefined = all read it in the same way.
 * @param host in lower case, without port
 */
export function plainHostName(host: string): string | undefined {
  if (!host.endsWith('.') && !host.includes('%')) return undefined
  const decoded = host.replaceAll(/%([0-9a-f]{2})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  let end = decoded.length
  while (decoded.charCodeAt(end - 1) === dot) end--
  return decoded.slice(0, end).toLowerCase()
}

const dot = '.'.charCodeAt(0)

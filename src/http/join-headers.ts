/** Names of which only the first field counts, as in Node. */
const singletonFields = new Set([
  'age',
  'authorization',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'from',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'retry-after',
  'server',
  'user-agent',
])

/** Headers by name in lower case, those of one name joined. */
export function joinHeaders(rawHeaders: readonly string[]): Record<string, string> {
  const joined: Record<string, string> = Object.create(null)
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase()
    const value = rawHeaders[index + 1] ?? ''
    const existing = joined[name]
    if (existing === undefined) joined[name] = value
    else if (!singletonFields.has(name)) joined[name] = existing + (name === 'cookie' ? '; ' : ', ') + value
  }
  return joined
}

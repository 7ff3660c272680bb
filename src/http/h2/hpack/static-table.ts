/** The static table (RFC 7541 Appendix A): name, value, name, value; its first entry has the index 1. */
export const staticTable: readonly string[] = [
  ...[':authority', '', ':method', 'GET', ':method', 'POST', ':path', '/', ':path', '/index.html'],
  ...[':scheme', 'http', ':scheme', 'https', ':status', '200', ':status', '204', ':status', '206'],
  ...[':status', '304', ':status', '400', ':status', '404', ':status', '500', 'accept-charset', ''],
  ...['accept-encoding', 'gzip, deflate', 'accept-language', '', 'accept-ranges', '', 'accept', ''],
  ...['access-control-allow-origin', '', 'age', '', 'allow', '', 'authorization', '', 'cache-control', ''],
  ...['content-disposition', '', 'content-encoding', '', 'content-language', '', 'content-length', ''],
  ...['content-location', '', 'content-range', '', 'content-type', '', 'cookie', '', 'date', '', 'etag', ''],
  ...['expect', '', 'expires', '', 'from', '', 'host', '', 'if-match', '', 'if-modified-since', ''],
  ...['if-none-match', '', 'if-range', '', 'if-unmodified-since', '', 'last-modified', '', 'link', ''],
  ...['location', '', 'max-forwards', '', 'proxy-authenticate', '', 'proxy-authorization', '', 'range', ''],
  ...['referer', '', 'refresh', '', 'retry-after', '', 'server', '', 'set-cookie', ''],
  ...['strict-transport-security', '', 'transfer-encoding', '', 'user-agent', '', 'vary', '', 'via', ''],
  ...['www-authenticate', ''],
]

/** The highest index of the static table: those of the dynamic table begin after it. */
export const staticIndexMax = staticTable.length / 2

/** The lowest index of each name. */
export const staticNames: ReadonlyMap<string, number> = new Map(
  Array.from({ length: staticIndexMax }, (_, index): [string, number] => [
    staticTable[2 * index] ?? '',
    index + 1,
  ]).toReversed(),
)

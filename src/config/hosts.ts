import { isIP } from 'node:net'

// RFC 6454 4: a scheme and an authority, followed at most by the slash of an empty path.
const originPattern = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\\@\s,]+\/?$/i

/**
 * An origin as browsers write it in `Origin`: in lower case, in ASCII, without the default port.
 * @returns undefined if the text is not an origin, such as `*`, `null`, or a URL with a path
 */
export function parseOrigin(text: string): string | undefined {
  const url = originPattern.test(text) ? URL.parse(text) : null
  if (!url || url.host === '' || /[*{}()$|<>^]/.test(url.host)) return undefined
  // URL returns no origin for unknown schemes, such as those of apps; browsers do.
  return url.origin === 'null' ? `${url.protocol}//${url.host.toLowerCase()}` : url.origin
}

// RFC 1123 2.1, with the underscore that service names have, and letters of any script, which look-ups convert.
const hostLabel = /^[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}_-]{0,61}[\p{L}\p{M}\p{N}_])?$/u
const hostLengthMax = 253

/** What is wrong with a host to listen on or connect to, whose port is a separate option; undefined = nothing. */
export function hostProblem(host: string): string | undefined {
  if (isIP(host) !== 0 || isHostName(host)) return undefined
  const hint =
    host === '*'
      ? ': 0.0.0.0 stands for all IPv4 addresses, :: for all addresses'
      : host.startsWith('[')
        ? ', without brackets'
        : ', without scheme and port'
  return `must be a host name or an IP address${hint}`
}

/** The last label must not be a number: `300.1.1.1` is a misspelt address. */
function isHostName(text: string): boolean {
  const labels = text.replace(/\.$/, '').split('.')
  const isNumber = /^\d+$/.test(labels.at(-1) ?? '')
  return text.length <= hostLengthMax && !isNumber && labels.every((label) => hostLabel.test(label))
}

/** What keeps a text from being an http(s) origin, such as the example; undefined if it is one. */
export function originProblem(text: string, example: string): string | undefined {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    return `must be a URL such as ${example}`
  }
  // URL accepts braces and the like in a host name.
  if (!/^(?:\[[\da-f:.]+\]|[\w.-]+)$/i.test(url.hostname)) {
    return `must have a host name: letters, digits, -, _ and dots, as in ${example}`
  }
  if (url.port === '0') return 'must not have port 0: nobody can connect to it'
  if (url.username || url.password) return 'must not contain credentials'
  if (url.pathname !== '/' || url.search || url.hash) return 'must be an origin: no path, query or fragment'
  return undefined
}

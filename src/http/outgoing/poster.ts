import { type LookupAddress, type LookupAllOptions, lookup as lookUpName } from 'node:dns'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { isLoopback, unmappedAddress, withoutBrackets } from '#platform/addresses.ts'
import { trustSystemAuthorities } from '#platform/certificate-authorities.ts'
import { signalAtDeadline } from '#platform/deadline.ts'
import { Agent, request } from '#platform/http.ts'

interface Poster {
  /**
   * Posts a body. No redirect is followed.
   * @throws Error, in words for the log and without the URL, where the response is not 2xx or there is none in time
   */
  post(body: string, headers: Readonly<Record<string, string>>): Promise<void>
  /** Aborts what is being sent, which then fails. */
  close(): void
}

interface PosterOptions {
  readonly url: URL
  /** For the whole exchange. */
  readonly timeoutMs: number
  /** Whether the host name may resolve to this machine or this link. */
  readonly allowsLocal: boolean
  /** Default: that of the system. */
  readonly resolveName?: ResolveName
}

/** Like `dns.lookup` with the option `all`. */
type ResolveName = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void

/** How much of a response is read, so that its connection can be kept. */
const responseBytesMax = 64 * 1_024

/**
 * Posts to one URL. A host name that leads to this machine or this link (loopback, link-local addresses and with them
 * the metadata services of clouds) is refused, unless it is allowed or the URL names such a host itself: whoever
 * controls the name could otherwise make the gateway call what only this machine can reach. The address that was
 * checked is the one that is connected to.
 */
export function openPoster({ url, timeoutMs, allowsLocal, resolveName = lookUpName }: PosterOptions): Poster {
  const isTls = url.protocol === 'https:'
  if (isTls) trustSystemAuthorities()
  const host = withoutBrackets(url.hostname)
  const isNamed = isIP(host) !== 0 || isLoopback(host)
  const options = { keepAlive: true, maxFreeSockets: 1, timeout: timeoutMs }
  const agent = isTls ? new HttpsAgent(options) : new Agent(options)
  const lookup = createLookup(resolveName, allowsLocal || isNamed ? () => false : isLocalAddress)

  async function post(body: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const { signal, clear } = signalAtDeadline(timeoutMs)
    try {
      const status = await new Promise<number>((resolve, reject) => {
        const send = isTls ? httpsRequest : request
        const sent = send(url, {
          method: 'POST',
          agent,
          signal,
          headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
          lookup,
        })
        sent.on('error', reject)
        sent.on('response', (response) => {
          let length = 0
          response.on('data', (chunk: Buffer) => {
            length += chunk.length
            if (length > responseBytesMax) response.destroy()
          })
          response.on('error', reject)
          response.on('close', () => resolve(response.statusCode ?? 0))
        })
        sent.end(body)
      })
      if (status >= 300 && status < 400) throw new Error(`status ${status}: redirects are not followed`)
      if (status < 200 || status >= 300) throw new Error(`status ${status}`)
    } catch (error) {
      if (signal.aborted)
        throw new Error(`no complete response within ${timeoutMs / 1_000} s`, { cause: error })
      throw error
    } finally {
      clear()
    }
  }

  return { post, close: () => agent.destroy() }
}

const local = new BlockList()
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  // The metadata service of Alibaba Cloud, in a range for carriers.
  ['100.100.100.200', 32],
  // The platform of Azure.
  ['168.63.129.16', 32],
] as const)
  addLocal(network, bits)
for (const [network, bits] of [
  ['::', 127],
  ['fe80::', 10],
  // The metadata service of AWS.
  ['fd00:ec2::254', 128],
] as const)
  local.addSubnet(network, bits, 'ipv6')

/** An IPv4 network, also as it is reached by NAT64 (RFC 6052) and 6to4 (RFC 3056). */
function addLocal(network: string, bits: number): void {
  const [a = 0, b = 0, c = 0, d = 0] = network.split('.').map(Number)
  const groups = [(a << 8) | b, (c << 8) | d].map((group) => group.toString(16)).join(':')
  local.addSubnet(network, bits, 'ipv4')
  local.addSubnet(`64:ff9b::${groups}`, 96 + bits, 'ipv6')
  local.addSubnet(`2002:${groups}::`, 16 + bits, 'ipv6')
}

/** Whether an address leads to this machine, this link or the metadata service of a cloud. */
export function isLocalAddress(address: string): boolean {
  const plain = unmappedAddress(address.replace(/%.*$/s, ''))
  return local.check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6')
}

/** Like `dns.lookup`, for a socket to connect to the result; fails if even one of the addresses is refused. */
function createLookup(resolveName: ResolveName, isRefused: (address: string) => boolean): LookupFunction {
  return (hostname, options, done) => {
    resolveName(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, [])
      const refused = found.find(({ address }) => isRefused(address))
      if (refused)
        return done(
          new Error(`${hostname} resolves to ${refused.address}, which is not allowed (allowLocal)`),
          [],
        )
      if (options.all) return done(null, found)
      const [first = { address: '', family: 4 }] = found
      return done(null, first.address, first.family)
    })
  }
}

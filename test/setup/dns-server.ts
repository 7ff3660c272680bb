import { createSocket } from 'node:dgram'
import dns from 'node:dns/promises'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import type { Test } from 'tap'

/** A name server for the names of a test: of any other it says that there is none. */
export interface NameServer {
  /** The addresses of each name; `fail` = the server fails. */
  readonly names: Map<string, readonly string[] | 'fail'>
  ttlS: number
  /** How often it was asked for a name. */
  readonly asked: Map<string, number>
}

const types = { a: 1, aaaa: 28 }
const codes = { ok: 0, failed: 2, noName: 3 }

/** A real name server (RFC 1035) that the default resolver of this process asks until the test has ended. */
export async function startNameServer(t: Test): Promise<NameServer> {
  const server: NameServer = { names: new Map(), ttlS: 0, asked: new Map() }
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  socket.on('message', (query, { address, port }) => socket.send(answerTo(query, server), port, address))
  const before = dns.getServers()
  dns.setServers([`127.0.0.1:${socket.address().port}`])
  t.teardown(() => {
    dns.setServers(before)
    socket.close()
  })
  return server
}

function answerTo(query: Buffer, { names, ttlS, asked }: NameServer): Buffer {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const name = labels.join('.').toLowerCase()
  const type = query.readUInt16BE(at + 1)
  asked.set(name, (asked.get(name) ?? 0) + 1)
  const known = names.get(name)
  const addresses = known === undefined || known === 'fail' ? [] : known
  const wanted = addresses.filter((address) => type === (isIPv6(address) ? types.aaaa : types.a))
  const code = known === 'fail' ? codes.failed : known === undefined ? codes.noName : codes.ok
  const head = Buffer.alloc(12)
  query.copy(head, 0, 0, 2)
  // A response, with recursion, and the code.
  head.writeUInt16BE(0x8180 + code, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(wanted.length, 6)
  return Buffer.concat([head, query.subarray(12, at + 5), ...wanted.map((each) => record(each, ttlS))])
}

function record(address: string, ttlS: number): Buffer {
  const data = isIPv6(address) ? ipv6Bytes(address) : Buffer.from(address.split('.').map(Number))
  const head = Buffer.alloc(12)
  // The name is that of the question (RFC 1035 4.1.4).
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(isIPv6(address) ? types.aaaa : types.a, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(ttlS, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

function ipv6Bytes(address: string): Buffer {
  const [start = '', end = ''] = address.split('::')
  const groups = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  const [before, after] = [groups(start), groups(end)]
  const middle = address.includes('::') ? new Array(8 - before.length - after.length).fill(0) : []
  const bytes = Buffer.alloc(16)
  for (const [index, group] of [...before, ...middle, ...after].entries())
    bytes.writeUInt16BE(group, 2 * index)
  return bytes
}

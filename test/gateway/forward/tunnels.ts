import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import { openTunnel, type Tunnel } from '#gateway/forward/tunnel.ts'
import { portOf } from '../../setup/net.ts'

export interface OpenTunnel {
  /** What the browser and the backend hold in their hands. */
  readonly browser: Socket
  readonly backend: Socket
  /** The ends of the gateway, towards the browser and towards the backend. */
  readonly client: Socket
  readonly upstream: Socket
  readonly tunnel: Tunnel
  /** How often it reported that both sides are gone. */
  readonly closings: () => number
}

/** Two connected sockets, both as the gateway would have them: it accepts browsers and connects to backends. */
async function openPair(t: Test, browserAllowsHalfOpen: boolean) {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connected = connect({
    port: portOf(server),
    host: '127.0.0.1',
    allowHalfOpen: browserAllowsHalfOpen,
  })
  const [[accepted]] = (await Promise.all([once(server, 'connection'), once(connected, 'connect')])) as [
    [Socket],
    unknown,
  ]
  server.close()
  for (const socket of [accepted, connected]) socket.on('error', () => {})
  t.teardown(() => {
    accepted.destroy()
    connected.destroy()
  })
  return { accepted, connected }
}

/** A tunnel between real sockets. */
export async function openTestTunnel(t: Test): Promise<OpenTunnel> {
  const { accepted: client, connected: browser } = await openPair(t, true)
  const { accepted: backend, connected: upstream } = await openPair(t, false)
  let closings = 0
  const tunnel = openTunnel(client, upstream, () => closings++)
  return { browser, backend, client, upstream, tunnel, closings: () => closings }
}

export interface Received {
  bytes: Buffer
  isEnded: boolean
  isClosed: boolean
}

/** Keeps all that a socket gets. */
export function receive(socket: Socket): Received {
  const received: Received = { bytes: Buffer.alloc(0), isEnded: false, isClosed: false }
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    received.bytes = chunks.length === 1 ? chunk : Buffer.concat([received.bytes, chunk])
  })
  socket.on('end', () => {
    received.isEnded = true
  })
  socket.on('close', () => {
    received.isClosed = true
  })
  return received
}

/** A frame of up to 125 bytes, whose mask, if it has one, is of zeros. */
export function shortFrame(payload: string | Buffer, { isMasked = false, first = 0x81 } = {}): Buffer {
  const bytes = Buffer.from(payload as string)
  const header = isMasked ? [first, 0x80 | bytes.length, 0, 0, 0, 0] : [first, bytes.length]
  return Buffer.concat([Buffer.from(header), bytes])
}

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connected socket. */
export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  return socket
}

/** One response of a known length, and how many of the received bytes it takes. */
export interface ParsedResponse {
  readonly status: number
  readonly body: string
  readonly length: number
}

/** The first complete response in a text; undefined = it is incomplete. @throws Error for chunks */
export function parseResponse(received: string): ParsedResponse | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const head = received.slice(0, end + 2)
  const [, size] = /\r\ncontent-length: *(\d+)\r\n/i.exec(head) ?? []
  if (size === undefined) throw new Error(`an answer without a length: ${head}`)
  const length = end + 4 + Number(size)
  if (received.length < length) return undefined
  return { status: Number(head.slice(9, 12)), body: received.slice(end + 4, length), length }
}

/** @throws Error that quotes it */
export function assertStatus({ status, body }: ParsedResponse, expected: number): void {
  if (status !== expected) throw new Error(`answered with ${status}, not ${expected}: ${body}`)
}

import type { LoadCommand, LoadResults } from './commands.ts'
import { openSocket } from './connection.ts'

const piece = Buffer.alloc(65_536, 'x')

/** One request with a long body or a long response, on its own connection. */
export async function runBody(order: Extract<LoadCommand, { kind: 'body' }>): Promise<LoadResults['body']> {
  const socket = await openSocket(order.url)
  const begin = performance.now()
  let left = order.sentBytes
  function send(): void {
    while (left > 0) {
      const next = left < piece.length ? piece.subarray(0, left) : piece
      left -= next.length
      if (!socket.write(next)) return
    }
  }
  socket.on('drain', send)
  const received = new Promise<number>((resolve, reject) => {
    let total: number | undefined
    let count = 0
    socket.on('data', (data: Buffer) => {
      total ??= totalOf(data)
      count += data.length
      if (count >= total) resolve(count)
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`closed after ${count} of ${total} bytes`)))
  })
  socket.write(order.head)
  send()
  const receivedBytes = await received
  socket.destroy()
  return { receivedBytes, elapsedMs: performance.now() - begin }
}

/** Counts a response, head and body, from its beginning: small heads arrive in one chunk. */
function totalOf(data: Buffer): number {
  const end = data.indexOf('\r\n\r\n')
  const head = data.toString('latin1', 0, end + 2)
  const [, length] = /^HTTP\/1\.1 200 .*\r\ncontent-length: *(\d+)\r\n/is.exec(head) ?? []
  if (length === undefined) throw new Error(`not the answer expected: ${head}`)
  return end + 4 + Number(length)
}

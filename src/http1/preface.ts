/** The line that begins HTTP/2 (RFC 9113 3.4): no request of HTTP/1.1 begins like that. */
const preface = 'PRI * HTTP/2.0\r\n'

/** Whether what a client sends first is of HTTP/2. */
export function startsWithPreface(chunk: Buffer): boolean {
  return chunk[0] === 0x50 && chunk.toString('latin1', 0, preface.length) === preface
}

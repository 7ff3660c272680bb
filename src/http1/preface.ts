/** What begins HTTP/2 (RFC 9113 3.4): a request line without fields, which no client of HTTP/1.1 sends. */
export const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

/** Whether what a client sends first is of HTTP/2: clients send the preface in one piece, as it is their first. */
export function startsWithPreface(chunk: Buffer): boolean {
  return chunk[0] === 0x50 && chunk.toString('latin1', 0, preface.length) === preface
}

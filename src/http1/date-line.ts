let second = 0
let line = ''

/** The Date line of a response of the gateway's own (RFC 9110 6.6.1), created once a second. */
export function dateLine(): string {
  const now = Date.now()
  if (now >= second + 1_000 || now < second) {
    second = now - (now % 1_000)
    line = `Date: ${new Date(second).toUTCString()}\r\n`
  }
  return line
}

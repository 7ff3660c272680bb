import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { Test } from 'tap'

export interface MailServer {
  readonly port: number
  /** Every mail that came, as it came. */
  readonly mails: readonly string[]
}

/** A real SMTP server on a free port, gone with the test. */
export async function startMailServer(t: Test, options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.key === undefined ? ['STARTTLS', 'AUTH'] : [],
    logger: false,
    onData: (stream, _session, done) => {
      let text = ''
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      stream.on('end', () => {
        mails.push(text)
        done()
      })
    },
    ...options,
  })
  // A client that turns away from a certificate is the client's business.
  server.on('error', () => {})
  const listener = server.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { port: (listener.address() as AddressInfo).port, mails }
}

import { createTransport } from 'nodemailer'
import { type TlsVerification, trustSystemAuthorities } from '#platform/certificate-authorities.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Mail } from './mail.ts'

export interface MailServer {
  readonly host: string
  readonly port: number
  /** `tls` from the first byte; `starttls` requires it; `none` for a server on this machine. */
  readonly security: 'tls' | 'starttls' | 'none'
  /** Without a username and a password there is no authentication. */
  readonly username: string | undefined
  readonly password: string | undefined
  /** Address and name of the sender; the name also ends each mail. */
  readonly from: string
  readonly name: string
  readonly tls: TlsVerification
}

/** How long a mail server may take for each step: a user is waiting for a page. */
const timeoutMs = 10_000

/**
 * Sends mails through an SMTP server, each over a new connection: there are few.
 * @returns a function that throws GatehouseError `mail-unavailable` if the server did not accept the mail
 */
export function createMailer({ from, name, tls, username, password, ...server }: MailServer) {
  if (server.security !== 'none' && tls.ca === undefined) trustSystemAuthorities()
  const transport = createTransport({
    host: server.host,
    port: server.port,
    secure: server.security === 'tls',
    requireTLS: server.security === 'starttls',
    ignoreTLS: server.security === 'none',
    ...(username !== undefined && password !== undefined && { auth: { user: username, pass: password } }),
    tls: { rejectUnauthorized: tls.verify, ...(tls.ca !== undefined && { ca: tls.ca }) },
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    // Our mails are plain text: none needs to fetch a URL or read a file.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return async ({ to, subject, text }: Mail): Promise<void> => {
    try {
      await transport.sendMail({
        from: { name, address: from },
        to: { name: '', address: to },
        subject,
        text: `${text}\n-- \n${name}\n`,
      })
    } catch (cause) {
      throw new GatehouseError('mail-unavailable', { cause })
    }
  }
}

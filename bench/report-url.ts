import type { AddressInfo, Server } from 'node:net'

/** Reports the listening URL to the parent process; exits with it. */
export function reportUrl(server: Server, port = 0): void {
  process.on('disconnect', () => process.exit())
  server.listen(port, '127.0.0.1', 32_768, () => {
    process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  })
}

/** The message of reportUrl. */
export interface ReadyMessage {
  readonly url: string
}

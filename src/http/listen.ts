import type { AddressInfo, Server } from 'node:net'
import { OperatorError, reasonOf } from '../errors.ts'

/**
 * Starts listening.
 * @returns the port, which the system chose where it was 0
 * @throws OperatorError where the address is in use or not to be had
 */
export function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  options: string,
) {
  return new Promise<number>((resolve, reject) => {
    function onError(cause: Error): void {
      reject(
        new OperatorError(`cannot listen on ${host}:${port}: ${reasonOf(cause)}`, {
          hint: `Choose another address with ${options} in the config; port 0 takes any that is free.`,
          cause,
        }),
      )
    }
    server.once('error', onError)
    server.listen({ host, port }, () => {
      server.off('error', onError)
      // The cast is sound: a server that listens on a host and port has such an address.
      resolve((server.address() as AddressInfo).port)
    })
  })
}

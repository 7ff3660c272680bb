import type { AddressInfo, Server } from 'node:net'

/** What a measured process tells the one that measures: first that it is ready, then its CPU time when asked. */

export function serveFigures(server: Server): void {
  process.on('disconnect', () => process.exit())
  answerFigures({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

export function answerFigures(ready: object): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuUs: user + system })
  })
  process.send?.(ready)
}

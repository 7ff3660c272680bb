import type { Metrics } from '../metrics/metrics.ts'
import type { Tunnel } from '../proxy/tunnel.ts'
import { type AcceptedUpgrade, acceptUpgrade } from './upgrade.ts'

/** All open WebSockets. */
export interface WebSockets {
  accept(upgrade: AcceptedUpgrade): void
  /** Closes them all, as RFC 6455 7.4 numbers the reasons. */
  closeAll(code: number, reason: string): void
}

export function createWebSockets(metrics: Metrics): WebSockets {
  const tunnels = new Set<Tunnel>()

  function accept(upgrade: AcceptedUpgrade): void {
    metrics.webSocketsOpen.inc()
    const tunnel = acceptUpgrade(upgrade, () => {
      tunnels.delete(tunnel)
      metrics.webSocketsOpen.dec()
      // The request that became a WebSocket is over only now.
      upgrade.response.emit('close')
    })
    tunnels.add(tunnel)
  }

  return {
    accept,
    closeAll: (code, reason) => {
      for (const tunnel of tunnels) tunnel.close(code, reason)
    },
  }
}

import type { Balancer } from './balancer.ts'
import type { Target } from './target.ts'
import type { UpstreamRequest } from './upstream-request.ts'

/** Chooses first the target at which a connection waits for the client alone: a handshake goes on where it has begun. */
export function preferBound(
  targets: readonly Target[],
  chooseTarget: Balancer<Target>,
): (request: UpstreamRequest, tried: readonly Target[]) => Target | undefined {
  if (targets.length === 1) return chooseTarget
  return function choose(request, tried) {
    const { clientSocket } = request
    const bound =
      clientSocket && tried.length === 0
        ? targets.find(({ pool }) => pool.isBoundTo(clientSocket))
        : undefined
    return bound && bound.health?.isEjected !== true ? bound : chooseTarget(request, tried)
  }
}

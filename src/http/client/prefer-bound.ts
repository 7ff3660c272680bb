import type { Balancer } from './balancer.ts'
import type { Target } from './target.ts'
import type { UpstreamRequest } from './upstream-request.ts'

/** @param tried the targets that the request has failed at @returns undefined where none is left */
export type ChooseTarget = (
  request: Pick<UpstreamRequest, 'clientAddress' | 'clientSocket'>,
  tried: readonly Target[],
) => Target | undefined

/** Chooses first the target at which a connection waits for the client alone: a handshake goes on where it has begun. */
export function preferBound(targets: readonly Target[], chooseTarget: Balancer<Target>): ChooseTarget {
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

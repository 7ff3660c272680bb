import { type Resolution, resolveHost } from './resolve-host.ts'

/** After a name could not be resolved. */
const retryMs = 5_000

interface FollowedHostEvents {
  /** They are others than before. */
  onAddresses(addresses: readonly string[]): void
  /** The name stopped resolving: until it does again, the last addresses hold. */
  onFailure(error: unknown): void
}

/** Resolves a host name again and again, whenever the TTL of its addresses is over. @returns a function that stops it */
export function followHost(host: string, known: readonly string[], events: FollowedHostEvents): () => void {
  let addresses = known
  let isFailing = false
  let isStopped = false
  let timer: NodeJS.Timeout | undefined

  async function resolve(): Promise<void> {
    let waitMs = retryMs
    try {
      const resolution = await resolveHost(host, addresses)
      waitMs = resolution.ttlMs
      if (!isStopped) take(resolution)
    } catch (error) {
      if (!isFailing && !isStopped) events.onFailure(error)
      isFailing = true
    }
    if (!isStopped) timer = setTimeout(resolve, waitMs).unref()
  }

  function take({ addresses: next }: Resolution): void {
    isFailing = false
    if (next.join() === addresses.join()) return
    addresses = next
    events.onAddresses(next)
  }

  void resolve()
  return function stop() {
    isStopped = true
    clearTimeout(timer)
  }
}

import type { Redis } from 'ioredis'

type Stream = Redis['stream']

/**
 * Holds back what is written to Redis until this turn of the event loop is over, so that all of it goes out in one
 * write: each single write costs about as much as a command, and wakes Redis. This saves a fifth of the CPU of a
 * refresh with 32 connections. To be called before each command.
 */
export function createGathering(client: Redis): () => void {
  let held: Stream | undefined

  function gather(): void {
    if (held) return
    held = client.stream
    held.cork()
    setImmediate(release)
  }

  function release(): void {
    held?.uncork()
    held = undefined
  }

  return gather
}

import type { Redis } from 'ioredis'

type Stream = Redis['stream']

/**
 * Corks the socket to Redis until the current turn of the event loop ends, so that all commands are sent in one
 * write: each single write costs about as much as a command, and wakes Redis. This saves a fifth of the CPU of a
 * refresh with 32 connections. To be called before each command.
 */
export function createWriteBatcher(client: Redis): () => void {
  let corked: Stream | undefined

  function batchWrites(): void {
    if (corked) return
    corked = client.stream
    corked.cork()
    setImmediate(release)
  }

  function release(): void {
    corked?.uncork()
    corked = undefined
  }

  return batchWrites
}

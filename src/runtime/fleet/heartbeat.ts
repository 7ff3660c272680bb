import type { PingReply } from './messages.ts'
import type { WorkerProcess } from './worker-process.ts'

export interface HeartbeatOptions {
  onPingReply(pulse: PingReply): void
  /** It has not answered for `silentMax` periods: called once. */
  onHung(): void
}

/** How often a worker is pinged. */
const periodMs = 1_000
/**
 * How many periods a worker may be silent. They are counted, not timed: if this process was suspended, the
 * responses are there, but have not been read yet.
 */
const silentMax = 5

/** Watches a worker until it exits: one that is suspended, or in an endless loop, holds its connections forever. */
export function watchHeartbeat(worker: WorkerProcess, options: HeartbeatOptions): void {
  const { onPingReply, onHung } = options
  let silent = 0

  function beat(): void {
    if (silent === silentMax) {
      clearInterval(timer)
      onHung()
      return
    }
    silent++
    worker.channel.request('ping', null).then(
      (reply) => {
        silent = 0
        onPingReply(reply)
      },
      // It has exited, or is about to: that is handled elsewhere.
      () => {},
    )
  }

  beat()
  const timer = setInterval(beat, periodMs)
  timer.unref()
  void worker.ended.then(() => clearInterval(timer))
}

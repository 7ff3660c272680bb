import { hasErrorCode } from '#platform/errors/operator-error.ts'

/** A stream that a command writes to. */
export interface Output {
  readonly isTTY?: boolean
  /** Why writing failed first; undefined = it has not. */
  readonly failure?: Error | undefined
  /** Resolves once the text is written, or has failed: then `failure` says why. Never rejects. */
  write(text: string): unknown
  /** Resolves once all that was written so far is written, or has failed. */
  flushed?(): Promise<unknown>
}

/** An output of the process: a write that fails neither throws nor is lost without notice. */
export function createOutput(stream: NodeJS.WriteStream): Output {
  let failure: Error | undefined
  let last: Promise<unknown> = Promise.resolve()
  stream.on('error', (error) => {
    failure ??= error
  })
  return {
    isTTY: stream.isTTY,
    get failure() {
      return failure
    },
    write: (text) => {
      last = new Promise<void>((resolve) => {
        stream.write(text, (error) => {
          if (error) failure ??= error
          resolve()
        })
      })
      return last
    },
    flushed: () => last,
  }
}

/** The reader has stopped early, and wants no more: `gatehouse config show | head`. */
export function isReaderGone({ failure }: Output): boolean {
  return hasErrorCode(failure, 'EPIPE')
}

/** Writes chunks one after the other, at constant memory; reads no further where the output has failed. */
export async function writeChunks(out: Output, chunks: AsyncIterable<string>): Promise<void> {
  for await (const chunk of chunks) {
    await out.write(chunk)
    if (out.failure) return
  }
}

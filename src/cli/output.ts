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

/** How often progress is shown: on a terminal in one line that is overwritten, elsewhere in a new line each time. */
const intervalMs = { terminal: 500, other: 10_000 } as const

/** The progress of long work, on standard error. */
export type Progress = ReturnType<typeof createProgress>

interface ProgressOptions {
  /** Such as `checked`. */
  readonly verb: string
  /** What is counted; undefined = only the number is shown. */
  readonly noun?: string
  /** undefined = not known. */
  readonly total?: number | undefined
  readonly err: Output
  /** In milliseconds; default: the clock of the process. */
  readonly now?: () => number
}

/** Shows nothing for work that is finished before the first interval has passed. */
export function createProgress({ verb, noun, total, err, now = () => performance.now() }: ProgressOptions) {
  const isTerminal = err.isTTY === true
  const everyMs = isTerminal ? intervalMs.terminal : intervalMs.other
  const startedAt = now()
  let next = startedAt + everyMs
  let latest = 0
  let shown = ''

  function show(at: number): void {
    const perSecond = Math.round((latest * 1_000) / (at - startedAt))
    const text = `${verb} ${latest}${total === undefined ? '' : ` of ${total}`}${noun === undefined ? '' : ` ${noun}`} (${perSecond}/s)`
    err.write(isTerminal ? `\r${text.padEnd(shown.length)}` : `${text}\n`)
    shown = text
  }

  return {
    /** @param count how much is done so far */
    report: (count: number): void => {
      latest = count
      const at = now()
      if (at < next) return
      next = at + everyMs
      show(at)
    },
    /** Shows what was done in the end, if anything was shown before. */
    end: (): void => {
      if (shown === '') return
      if (!shown.startsWith(`${verb} ${latest} `)) show(now())
      if (isTerminal) err.write('\n')
    },
  }
}

import { type DestinationStream, destination, pino } from 'pino'

export type Log = ReturnType<typeof createLog>

interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Default: standard output, written in batches. */
  readonly stream?: DestinationStream
  /** Number of the worker that writes; undefined = one process writes alone. */
  readonly worker?: number | undefined
}

const flushMs = 100
const batchBytes = 4_096
/** Of several workers: no more than a pipe takes in one piece (PIPE_BUF), so that their lines never mix. */
const sharedBatch = { minLength: 2_048, maxWrite: 4_096 }

/** The log: one JSON object a line. Errors are written by name and message, never with what they carry. */
export function createLog({ level, stream, worker }: LogOptions) {
  const output = stream ?? openStandardOutput(worker !== undefined)
  const log = pino(
    {
      level,
      base: worker === undefined ? null : { worker },
      timestamp: () => `,"time":"${timeOfDay()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    output,
  )
  const base = worker === undefined ? '' : `"worker":${worker},`

  /**
   * A line of level info for what happens with each request: half of what such a request costs would go into
   * making it from an object.
   * @param members of JSON, each with a comma behind it
   */
  function line(members: string, message: string): void {
    if (!log.isLevelEnabled('info')) return
    output.write(`{"level":"info","time":"${timeOfDay()}",${base}${members}"msg":"${message}"}\n`)
  }

  return Object.assign(log, { line })
}

let second = 0
let textOfSecond = ''

/** Now, as Date writes it (ISO 8601), which does so once a second. */
function timeOfDay(): string {
  const now = Date.now()
  const ms = now % 1_000
  if (now - ms !== second) {
    second = now - ms
    textOfSecond = new Date(second).toISOString().slice(0, -'000Z'.length)
  }
  return `${textOfSecond}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`
}

function openStandardOutput(isShared: boolean): DestinationStream {
  const batches = isShared ? sharedBatch : { minLength: batchBytes }
  return destination({ fd: 1, sync: false, periodicFlush: flushMs, ...batches })
}

interface DescribedError {
  readonly name: string
  readonly message: string
  readonly code?: unknown
  readonly stack?: string | undefined
  readonly cause?: DescribedError | undefined
}

/** A client error of a driver holds the command and its arguments: only what is listed here is written. */
function describeError(error: unknown): DescribedError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  return {
    name: error.name,
    message: error.message,
    ...('code' in error && { code: error.code }),
    stack: error.stack,
    ...(error.cause !== undefined && { cause: describeError(error.cause) }),
  }
}

/**
 * Writes down the faults of this process. A promise that was forgotten, of a library say, must not take the
 * traffic down; after an exception out of nowhere nothing can be relied on.
 */
export function watchForFaults(log: Log): void {
  process.on('unhandledRejection', (err) => log.error({ err }, 'a rejection that nobody handled'))
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'a fault of the gateway: it ends')
    log.flush()
    process.exit(1)
  })
}

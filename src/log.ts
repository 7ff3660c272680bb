import { type DestinationStream, pino } from 'pino'
import { openLogOutput } from './log-output.ts'

export type Log = ReturnType<typeof createLog>

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

interface LogOptions {
  readonly level: LogLevel
  /** Default: standard output, written in batches. */
  readonly stream?: DestinationStream
  /** Number of the worker that writes; undefined = one process writes alone. */
  readonly worker?: number | undefined
}

const batches = { batchBytes: 4_096, pieceBytesMax: 16_384 }
/** Of several workers: no more than a pipe takes in one piece (PIPE_BUF), so that their lines never mix. */
const sharedBatches = { batchBytes: 2_048, pieceBytesMax: 4_096 }

/** The log: one JSON object a line. Errors are written by name and message, never with what they carry. */
export function createLog({ level, stream, worker }: LogOptions) {
  const output =
    stream ?? openLogOutput({ fd: 1, ...(worker === undefined ? batches : sharedBatches), onLoss })
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

  function onLoss(lines: number): void {
    log.warn({ lines }, 'lines of the log were lost: it could not be written')
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
 * Writes down the faults of this process, if that can be done. A promise that was forgotten, of a library say,
 * must not take the traffic down; after an exception out of nowhere nothing can be relied on.
 */
export function watchForFaults(log: Log): void {
  process.on('unhandledRejection', (err) => log.error({ err }, 'a rejection that nobody handled'))
  process.on('uncaughtException', (err) => {
    // What is fatal is written before it returns.
    log.fatal({ err }, 'a fault of the gateway: it ends')
    process.exit(1)
  })
}

import { type DestinationStream, destination, pino } from 'pino'

export type Log = ReturnType<typeof createLog>

interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Default: standard output, written in batches. */
  readonly stream?: DestinationStream
}

const flushMs = 100
const batchBytes = 4_096

/** The log: one JSON object a line. Errors are written by name and message, never with what they carry. */
export function createLog({ level, stream }: LogOptions) {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    stream ?? destination({ fd: 1, sync: false, minLength: batchBytes, periodicFlush: flushMs }),
  )
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

import { fstatSync } from 'node:fs'
import { isatty } from 'node:tty'
import { type DestinationStream, pino } from 'pino'
import { isStoreUnavailable } from '../errors/gatehouse-error.ts'
import { OperatorError } from '../errors/operator-error.ts'
import { inOnePiece } from '../text.ts'
import { createLogOutput, type LogOutput } from './log-output.ts'
import { hasColors, prettyLine } from './pretty.ts'

export type Log = ReturnType<typeof createLog>

type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** `auto` is `pretty` if standard output is a terminal, else `json`. */
type LogFormat = 'auto' | 'json' | 'pretty'

interface LogOptions {
  readonly level: LogLevel
  /** For standard output; default auto. A `stream` gets JSON. */
  readonly format?: LogFormat
  /** Default: standard output, written in batches. */
  readonly stream?: DestinationStream
  /** Number of the worker that writes; undefined = only one process writes. */
  readonly worker?: number | undefined
}

/** Each write wakes another thread and then this one: about two hundred lines share that cost. */
const batches = { batchBytes: 65_536, chunkBytesMax: 65_536 }
/**
 * For several workers, unless they write to a file, which takes each write as a whole: chunks no larger than a pipe
 * writes atomically (PIPE_BUF), so that their lines never mix.
 */
const sharedBatches = { batchBytes: 2_048, chunkBytesMax: 4_096 }

/**
 * The log: one JSON object per line, or text for people. Of errors, only the members listed in `describeError` are
 * written.
 */
export function createLog({ level, format = 'auto', stream, worker }: LogOptions) {
  const output = stream ?? openStandardOutput()
  const log = pino(
    {
      level,
      base: worker === undefined ? null : { worker },
      timestamp: () => `,"time":"${isoTimestamp()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    output,
  )
  const lineStart = createLineStart(worker === undefined ? '' : `"worker":${worker},`)
  // pino looks up each of its members by name, which takes longer than the rest of a line (hot).
  let writesInfo = log.isLevelEnabled('info')
  let lastMessage = ''
  let lineEnd = ''
  log.on('level-change', () => {
    writesInfo = log.isLevelEnabled('info')
  })

  /**
   * Writes a line of level info, for events of every request, as building the line from an object would take half of
   * the time of a cheap request.
   * @param members of a JSON object, each followed by a comma
   */
  function line(members: string, message: string): void {
    if (!writesInfo) return
    if (message !== lastMessage) {
      lastMessage = message
      lineEnd = inOnePiece(`"msg":"${message}"}\n`)
    }
    output.write(lineStart() + members + lineEnd)
  }

  function openStandardOutput(): LogOutput {
    const isAtomic = worker === undefined || fstatSync(1).isFile()
    const json = createLogOutput({ fd: 1, ...(isAtomic ? batches : sharedBatches), onLoss })
    // Decided once, as JSON lines are written unchanged.
    return format === 'pretty' || (format === 'auto' && isatty(1)) ? pretty(json) : json
  }

  function onLoss(lines: number): void {
    log.warn({ lines }, 'log lines lost: the output could not be written')
  }

  return Object.assign(log, { line })
}

function pretty(output: LogOutput): LogOutput {
  const options = { hasColors: hasColors() }
  return { ...output, write: (line) => output.write(prettyLine(line, options)) }
}

let second = 0
let textOfSecond = ''
let millisecond = 0
let textOfMillisecond = ''

/** The beginning of lines of level info, as one text, as further pieces would be joined anew for each line. */
function createLineStart(base: string): () => string {
  let time = ''
  let text = ''
  return () => {
    const now = isoTimestamp()
    if (now !== time) {
      time = now
      text = inOnePiece(`{"level":"info","time":"${now}",${base}`)
    }
    return text
  }
}

/** The current time in ISO 8601, formatted by Date only once a second. */
function isoTimestamp(): string {
  const now = Date.now()
  if (now === millisecond) return textOfMillisecond
  const ms = now % 1_000
  if (now - ms !== second) {
    second = now - ms
    textOfSecond = new Date(second).toISOString().slice(0, -'000Z'.length)
  }
  millisecond = now
  textOfMillisecond = `${textOfSecond}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`
  return textOfMillisecond
}

interface DescribedError {
  readonly name: string
  readonly message: string
  readonly code?: unknown
  readonly stack?: string | undefined
  readonly cause?: DescribedError | undefined
}

/** Drivers' errors contain the command and its arguments, so only the members listed here are written. */
function describeError(error: unknown): DescribedError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  if (error instanceof OperatorError || isStoreUnavailable(error)) return describeOperationalError(error)
  return {
    ...errorSummary(error),
    stack: error.stack,
    ...(error.cause !== undefined && { cause: describeError(error.cause) }),
  }
}

/** An operational error, not a bug: a stack trace would not help. */
function describeOperationalError(error: Error): DescribedError {
  const { cause } = error
  // "Store unavailable" adds nothing to the cause.
  if (isStoreUnavailable(error) && cause instanceof Error) return errorSummary(cause)
  const deeper = cause instanceof Error ? describeOperationalError(cause) : undefined
  const isNew = deeper !== undefined && !error.message.includes(deeper.message)
  return { ...errorSummary(error), ...(isNew && { cause: deeper }) }
}

function errorSummary(error: Error): DescribedError {
  return { name: error.name, message: error.message, ...('code' in error && { code: error.code }) }
}

/**
 * Logs unhandled errors of this process. An unhandled rejection, for example of a library, must not stop the traffic;
 * after an uncaught exception nothing is reliable, and the process exits.
 */
export function logUncaughtErrors(log: Log): void {
  process.on('unhandledRejection', (err) => log.error({ err }, 'unhandled promise rejection'))
  process.on('uncaughtException', (err) => {
    // A fatal line is written before this returns.
    log.fatal({ err }, 'uncaught exception: exiting')
    process.exit(1)
  })
}

import { type ChildProcess, spawn } from 'node:child_process'
import type { Environment } from '#config/secrets.ts'
import type { Log } from '#platform/log/log.ts'

/** Tells the service manager how this process does, as sd_notify(3) has it. */
interface ServiceManager {
  /** It serves, or has ended a reload, whatever came of it. */
  ready(): void
  reloading(): void
  /** After this nothing is told but that it lives. */
  stopping(): void
  /** To be called at the end. */
  close(): void
}

/**
 * Node has no datagram sockets of Unix: a shell reads lines and calls systemd-notify, which waits until its message is
 * read, as the service manager must see who sent it. One shell for all messages: starting a process from this one
 * takes as long as it has memory. Interrupts of the whole process group must not end it.
 */
const script = `trap '' HUP INT TERM
command -v systemd-notify >/dev/null || exit 127
while read -r line; do systemd-notify $line; done`
const notFound = 127

/** @param options undefined = nobody is told */
export function openServiceManager(
  options: ServiceManagerOptions | undefined,
  log: Pick<Log, 'warn'>,
): ServiceManager {
  let shell: ChildProcess | undefined
  let isStopping = false
  let isUseless = options === undefined
  // From the event loop itself: while it stands still nothing is told. The manager wants to hear twice in the time.
  const watchdog =
    options?.watchdogMs === undefined
      ? undefined
      : setInterval(() => tell('WATCHDOG=1'), options.watchdogMs / 2).unref()

  function tell(line: string): void {
    if (isUseless) return
    shell ??= start()
    shell.stdin?.write(`${line}\n`)
  }

  function start(): ChildProcess {
    const child = spawn('/bin/sh', ['-c', script], {
      env: { ...options?.env },
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    child.unref()
    child.stdin?.on('error', () => {})
    child.on('error', () => onEnd(notFound)).on('exit', onEnd)
    return child
  }

  /** Otherwise the next message starts another. */
  function onEnd(status: number | null): void {
    shell = undefined
    if (status !== notFound || isUseless) return
    isUseless = true
    log.warn('cannot notify the service manager: there is no systemd-notify')
  }

  return {
    ready: () => {
      if (!isStopping) tell('READY=1')
    },
    reloading: () => {
      if (!isStopping) tell(`RELOADING=1 MONOTONIC_USEC=${process.hrtime.bigint() / 1_000n}`)
    },
    stopping: () => {
      tell('STOPPING=1')
      isStopping = true
    },
    close: () => {
      isUseless = true
      clearInterval(watchdog)
      shell?.stdin?.end()
    },
  }
}

/** How the service manager that has started this process is told how it does (sd_notify(3)). */
interface ServiceManagerOptions {
  /** For the program that tells it. */
  readonly env: Readonly<Record<string, string>>
  /** It ends a process from which it has heard nothing for this long; undefined = it does not. */
  readonly watchdogMs: number | undefined
}

/** @returns undefined where it wants to hear nothing */
export function readServiceManager(env: Environment): ServiceManagerOptions | undefined {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID, PATH } = env
  if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === '') return undefined
  // For another process (sd_watchdog_enabled(3)), but for the one that has started this Node (bin/gatehouse.cjs).
  const isForUs = WATCHDOG_PID === undefined || [process.pid, process.ppid].includes(Number(WATCHDOG_PID))
  const watchdogMs = Number(WATCHDOG_USEC) / 1_000
  return {
    env: { NOTIFY_SOCKET, ...(PATH !== undefined && { PATH }) },
    watchdogMs: isForUs && watchdogMs >= watchdogMsMin ? watchdogMs : undefined,
  }
}

/** A shorter time says nothing: a full garbage collection may take longer. */
const watchdogMsMin = 10

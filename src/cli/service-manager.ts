import { type ChildProcess, spawn } from 'node:child_process'
import type { Environment } from '#config/secrets.ts'
import type { Log } from '#platform/log/log.ts'

/**
 * Node has no Unix datagram sockets, so a shell reads lines and calls systemd-notify, which waits until its message has
 * been read, as the service manager has to see who sent it. There is one shell for all messages, because starting a
 * process takes the longer the more memory this one has. Signals to the whole process group must not end the shell.
 */
const script = `trap '' HUP INT TERM
command -v systemd-notify >/dev/null || exit 127
while read -r line; do systemd-notify $line; done`
const notFound = 127

/**
 * Tells the service manager the state of this process, with the messages of sd_notify(3).
 * @param options undefined = no messages are sent
 */
export function openServiceManager(options: ServiceManagerOptions | undefined, log: Pick<Log, 'warn'>) {
  let shell: ChildProcess | undefined
  let isStopping = false
  let isUseless = options === undefined
  // Sent by the event loop, so that nothing is sent while it is blocked; twice in the time, as sd_watchdog_enabled(3)
  // recommends.
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

  /** Without systemd-notify no further messages are sent; otherwise the next message starts another shell. */
  function onEnd(status: number | null): void {
    shell = undefined
    if (status !== notFound || isUseless) return
    isUseless = true
    log.warn('cannot notify the service manager: there is no systemd-notify')
  }

  return {
    /** The process serves requests; also called after each reload, whether it succeeded or failed. */
    ready: () => {
      if (!isStopping) tell('READY=1')
    },
    reloading: () => {
      if (!isStopping) tell(`RELOADING=1 MONOTONIC_USEC=${process.hrtime.bigint() / 1_000n}`)
    },
    /** After this only the messages of the watchdog are sent. */
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

/** How the service manager that started this process is reached (sd_notify(3)). */
interface ServiceManagerOptions {
  /** The environment of systemd-notify. */
  readonly env: Readonly<Record<string, string>>
  /** The service manager ends this process after this long without a message; undefined = it never does. */
  readonly watchdogMs: number | undefined
}

/** @returns undefined if no service manager wants messages */
export function readServiceManager(env: Environment): ServiceManagerOptions | undefined {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID, PATH } = env
  if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === '') return undefined
  // The watchdog may be meant for another process (sd_watchdog_enabled(3)); bin/gatehouse.cjs starts this one.
  const isForUs = WATCHDOG_PID === undefined || [process.pid, process.ppid].includes(Number(WATCHDOG_PID))
  const watchdogMs = Number(WATCHDOG_USEC) / 1_000
  return {
    env: { NOTIFY_SOCKET, ...(PATH !== undefined && { PATH }) },
    watchdogMs: isForUs && watchdogMs >= watchdogMsMin ? watchdogMs : undefined,
  }
}

/** A shorter watchdog is ignored, as a full garbage collection may take longer. */
const watchdogMsMin = 10

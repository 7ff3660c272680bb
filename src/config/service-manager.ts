import type { Environment } from './secrets.ts'

/** How the service manager that has started this process is told how it does (sd_notify(3)). */
export interface ServiceManagerOptions {
  /** For the program that tells it. */
  readonly env: Readonly<Record<string, string>>
  /** It ends a process from which it has heard nothing for this long; undefined = it does not. */
  readonly watchdogMs: number | undefined
}

/** @returns undefined where it wants to hear nothing */
export function readServiceManager(env: Environment = process.env): ServiceManagerOptions | undefined {
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

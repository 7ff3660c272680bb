import { readdirSync, readFileSync } from 'node:fs'

/** Resource usage of processes and their descendants, from /proc (Linux). */

/** The kernel counts CPU time in hundredths of a second here (USER_HZ, proc(5)). */
const tickUs = 10_000

/** CPU time, user and system, in microseconds, in steps of 10 ms. */
export function cpuUsOf(pids: readonly number[]): number {
  return sumOverTree(pids, cpuUsOfOne)
}

/** Resident memory in bytes. */
export function rssBytesOf(pids: readonly number[]): number {
  return sumOverTree(pids, (pid) => statusBytes(pid, 'VmRSS'))
}

/** The most that they have had resident so far, each at its own time; in bytes. */
export function peakRssBytesOf(pids: readonly number[]): number {
  return sumOverTree(pids, (pid) => statusBytes(pid, 'VmHWM'))
}

function sumOverTree(pids: readonly number[], read: (pid: number) => number): number {
  return pids.reduce((sum, pid) => sum + read(pid) + sumOverTree(childrenOf(pid), read), 0)
}

function cpuUsOfOne(pid: number): number {
  return parseCpuUs(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}

/** Of /proc/PID/stat: fields 14 and 15, behind a name that may itself have spaces and brackets. */
export function parseCpuUs(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * tickUs
}

/** A line of /proc/PID/status (proc(5)). */
function statusBytes(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm')
  const [, kib] = line.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1_024
}

/** Steal time of all cores of a virtual machine since boot, in steps of 10 ms. */
export function stealMs(): number {
  return parseStealMs(readFileSync('/proc/stat', 'utf8'))
}

/** Of /proc/stat: the eighth figure of the line for all cores. */
export function parseStealMs(stat: string): number {
  const [, ...ticks] = (stat.split('\n', 1)[0] ?? '').split(/ +/)
  return (Number(ticks[7]) * tickUs) / 1_000
}

/** Processes that a process has started. */
export function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  )
}

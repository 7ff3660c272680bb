import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import type { RawClient } from '../setup/raw-client.ts'
import type { Upstream } from './upstream.ts'
import { connectWire } from './wire.ts'

/** A proxy that is looked at from outside: a process, and where it listens. */
export interface Subject {
  readonly name: string
  readonly url: string
  readonly pid: number
}

/** Where a case takes place. */
export interface Place {
  readonly subject: Subject
  readonly upstream: Upstream
  /** A client connected to the subject; closed when the case is over. */
  connect(): Promise<RawClient>
}

/**
 * One promise of a proxy. What is observed is plain data: it is compared with what is expected, and with what
 * another proxy does.
 */
export interface Case {
  readonly name: string
  run(place: Place): Promise<unknown>
  readonly expected: unknown
}

const timeoutMs = 20_000

/** Runs a case and lets go of its connections. @throws what the case throws, or when it takes too long */
export async function observe(subject: Subject, upstream: Upstream, { run, name }: Case): Promise<unknown> {
  const clients: RawClient[] = []
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`hangs: ${name}`)), timeoutMs)
  })
  async function connect(): Promise<RawClient> {
    const client = await connectWire(subject.url)
    clients.push(client)
    return client
  }
  try {
    return await Promise.race([run({ subject, upstream, connect }), tooLong])
  } finally {
    clearTimeout(timer)
    for (const client of clients) client.close()
  }
}

/** Resident memory of the subject, in bytes. */
export function rssOf({ pid }: Subject): number {
  const status = `/proc/${pid}/status`
  const kibibytes = existsSync(status)
    ? /^VmRSS:\s*(\d+)/m.exec(readFileSync(status, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
  return Number(kibibytes) * 1_024
}

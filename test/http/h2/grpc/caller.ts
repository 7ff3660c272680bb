import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'

/** A call of gRPC; its messages are texts. */
export interface Call {
  readonly path: string
  readonly kind: 'unary' | 'upload' | 'download' | 'chat'
  readonly messages: readonly string[]
  readonly metadata?: Readonly<Record<string, string>>
  /** undefined = none. */
  readonly deadlineMs?: number
  /** The client cancels once it has so many messages; undefined = it does not. */
  readonly cancelAfter?: number
  /** Whether the client goes on to send after its messages, without ever doing so. */
  readonly staysOpen?: boolean
}

export interface CallStatus {
  readonly code: number
  readonly details: string
  readonly trailers: Readonly<Record<string, string>>
}

/** What has become of a call so far. */
export interface Called {
  readonly received: readonly string[]
  /** undefined = it is open. */
  readonly status: CallStatus | undefined
  readonly ended: Promise<CallStatus>
}

/** A client in one of the languages, connected to one server. */
export interface Caller {
  call(asked: Call): Called
}

/** What a client tells of a call. */
export type CallEvent = { readonly message: string } | CallStatus

/** @returns the call, and what its events are told to */
export function openCall(): { called: Called; onEvent(event: CallEvent): void } {
  const received: string[] = []
  let status: CallStatus | undefined
  const { promise: ended, resolve } = Promise.withResolvers<CallStatus>()
  return {
    called: {
      received,
      get status() {
        return status
      },
      ended,
    },
    onEvent: (event) => {
      if ('message' in event) received.push(event.message)
      else {
        status = event
        resolve(event)
      }
    },
  }
}

/**
 * A client that is a program: it gets calls as lines of JSON, and tells their events in the same way.
 * @param command the program and its arguments, to which the server's address is added
 */
export function startCaller(
  t: Test,
  [program, ...args]: readonly [string, ...string[]],
  url: string,
): Caller {
  const child = spawn(program, [...args, new URL(url).host], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const calls: ReturnType<typeof openCall>[] = []
  createInterface(child.stdout).on('line', (line) => {
    // The cast is sound: the clients of the tests write nothing else.
    const { id, ...event } = JSON.parse(line) as CallEvent & { readonly id: number }
    calls[id]?.onEvent(event)
  })
  return {
    call: (asked) => {
      const opened = openCall()
      const absent = { metadata: {}, deadlineMs: 0, cancelAfter: 0, staysOpen: false }
      child.stdin.write(`${JSON.stringify({ ...absent, ...asked, id: calls.push(opened) - 1 })}\n`)
      return opened.called
    },
  }
}

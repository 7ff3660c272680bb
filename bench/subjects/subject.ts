import { connect } from 'node:net'
import type { Scope } from '../scope.ts'

/** What is measured: processes, and where they listen. */
export interface Subject {
  readonly url: string
  /** The roots of its process trees: their descendants count too. */
  readonly pids: readonly number[]
}

/** What callers authenticate with: as many accounts as there are keys, and a token of each. */
export interface Credentials {
  readonly secretKeys: readonly string[]
  readonly accessTokens: readonly string[]
  readonly refreshTokens: readonly string[]
  /** Bodies of access-token requests. */
  readonly pairs: readonly string[]
  /** The key that the tokens are verified with, as PEM (SPKI). */
  readonly publicKey: string
}

/** The options that a subject is started with. */
export interface SubjectOptions {
  readonly scope: Scope
  readonly upstreamUrl: string
  /** The gateway's credentials: the peers verify its tokens. */
  readonly credentials: Credentials
}

/** Resolves once connections are accepted there. @throws Error after ten seconds */
export async function untilListening(url: string): Promise<void> {
  const deadline = performance.now() + 10_000
  while (!(await isListening(url))) {
    if (performance.now() > deadline) throw new Error(`nobody listens on ${url}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function isListening(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

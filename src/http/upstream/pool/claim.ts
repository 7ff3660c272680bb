import type { Socket } from 'node:net'
import type { Listed } from '#platform/unordered-list.ts'
import type { UpstreamFailure } from '../../client/failure.ts'
import type { UpstreamConnection } from '../../client/upstream-connection.ts'

/**
 * How much of a request's body has arrived: `complete` (or there is none); `pending` = its client has sent little of it
 * so far; `streaming` = more than is buffered.
 */
export type BodyProgress = 'complete' | 'pending' | 'streaming'

/** A user of a connection to a target, or one that waits for a connection. */
export interface ConnectionUser {
  /** As `clientNetwork` gives it. */
  readonly clientNetwork: string
  /** undefined = no account. */
  readonly accountId: string | undefined
  /** What stands for the connection of HTTP/2 that its client shares among its requests; undefined = there is none. */
  readonly clientSession: object | undefined
  readonly bodyProgress: BodyProgress
}

/** The user of a connection, and what it does to it. */
export interface PoolUser extends ConnectionUser {
  /** The connection of its client, if that carries one request at a time, of this client alone. */
  readonly clientSocket: Socket | undefined
  /** Whether it authenticates the connection that it is sent on (see bindsConnection). */
  readonly bindsConnection: boolean
}

/** A client network, an account, or a client's connection, as far as it uses the connections of one pool. */
export interface Party {
  /** How many connections it has. */
  inUse: number
  /** How many of its requests wait for one. */
  waiting: number
}

/** A client network with its requests that wait, in the order in which they came. */
export interface ClientNetwork extends Party, Listed {
  first: Waiting | undefined
  last: Waiting | undefined
}

/** Whose shares a connection counts towards. */
export interface Claim {
  readonly network: ClientNetwork
  readonly account: Party | undefined
  readonly session: Party | undefined
}

/** A connection of the pool, in use or not. */
export interface Use {
  /** undefined = it is idle. */
  readonly user: ConnectionUser | undefined
  /** That of its user, or of the last one; undefined where Share does not count. */
  claim: Claim | undefined
}

/** A request that waits for a connection. What is not readonly is for the queue alone. */
export interface Waiting {
  readonly user: ConnectionUser
  readonly claim: Claim
  /** The later it came the higher; undefined = it does not wait. */
  number: number | undefined
  before: Waiting | undefined
  after: Waiting | undefined
}

/** Receives a connection; one of the two is called, once, unless the wait is cancelled before. */
export interface ConnectionReceiver {
  /** @param now on the clock of performance.now() */
  onConnection(connection: UpstreamConnection, now: number): void
  onFailure(failure: UpstreamFailure): void
}

/** Something that waits for a connection of the pool, and then uses it for its request. */
export interface Waiter extends ConnectionReceiver {
  readonly request: PoolUser
}

/** A wait for a connection. */
export interface Acquisition {
  cancel(): void
  /** To be called when more of the body has arrived, or all of it. */
  onBodyProgress(): void
}

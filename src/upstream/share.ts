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
  readonly bodyProgress: BodyProgress
}

/** The connections to a target. */
export interface ConnectionUsage {
  readonly connectionsMax: number
  readonly inUse: number
  /** The user of each connection; undefined = an idle one. */
  users(): Iterable<ConnectionUser | undefined>
}

/** A client network, and an account, may use at most this many times as many connections as are free. */
const shareOfFree = 8

/**
 * Whether a user may take one more connection. Nobody can take them all: not the requests of one client network or
 * account (114 of 128 while nobody else needs any, fewer the more others do), nor bodies that are still arriving (three
 * quarters). Everybody may take at least one while any is free.
 */
export function mayTakeConnection(user: ConnectionUser, use: ConnectionUsage): boolean {
  const { connectionsMax, inUse } = use
  const free = connectionsMax - inUse
  if (free <= 0) return false
  const receivingMax = connectionsMax - Math.floor(connectionsMax / 4)
  if (inUse >= receivingMax && user.bodyProgress !== 'complete' && countReceiving(use) >= receivingMax)
    return false
  return inUse < shareOfFree * free || countOfSame(user, use) < shareOfFree * free
}

function countReceiving({ users }: ConnectionUsage): number {
  let count = 0
  for (const user of users()) if (user !== undefined && user.bodyProgress !== 'complete') count++
  return count
}

/** How many connections its network or its account has, whichever has more. */
function countOfSame({ clientNetwork, accountId }: ConnectionUser, { users }: ConnectionUsage): number {
  let ofNetwork = 0
  let ofAccount = 0
  for (const user of users()) {
    if (user?.clientNetwork === clientNetwork) ofNetwork++
    if (accountId !== undefined && user?.accountId === accountId) ofAccount++
  }
  return Math.max(ofNetwork, ofAccount)
}

/**
 * How far the body of a request has come: `whole` (or there is none); `awaited` = its client has sent little of it so
 * far; `streaming` = there is more to come than is kept.
 */
export type BodyProgress = 'whole' | 'awaited' | 'streaming'

/** Who uses a connection to a target, or wants one. */
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
  /** Those who use them; undefined = an idle one. */
  users(): Iterable<ConnectionUser | undefined>
}

/** A client network, and an account, may use so many times as many connections as are left for others. */
const shareOfFree = 8

/**
 * Whether somebody may take one more connection. Nobody can take them all: not the requests of one client network or
 * account (114 of 128 while nobody else needs any, the fewer the more others do), and not bodies that are still on
 * their way (three quarters). One, at least, is for everybody as long as any is free.
 */
export function mayTakeConnection(user: ConnectionUser, use: ConnectionUsage): boolean {
  const { connectionsMax, inUse } = use
  const free = connectionsMax - inUse
  if (free <= 0) return false
  const receivingMax = connectionsMax - Math.floor(connectionsMax / 4)
  if (inUse >= receivingMax && user.bodyProgress !== 'whole' && countReceiving(use) >= receivingMax)
    return false
  return inUse < shareOfFree * free || countOfSame(user, use) < shareOfFree * free
}

function countReceiving({ users }: ConnectionUsage): number {
  let count = 0
  for (const user of users()) if (user !== undefined && user.bodyProgress !== 'whole') count++
  return count
}

/** How many its network has, or its account, whichever are more. */
function countOfSame({ clientNetwork, accountId }: ConnectionUser, { users }: ConnectionUsage): number {
  let ofNetwork = 0
  let ofAccount = 0
  for (const user of users()) {
    if (user?.clientNetwork === clientNetwork) ofNetwork++
    if (accountId !== undefined && user?.accountId === accountId) ofAccount++
  }
  return Math.max(ofNetwork, ofAccount)
}

import type { BodyProgress, Claim, ClientNetwork, ConnectionUser, Party } from './claim.ts'
import { Parties } from './parties.ts'

/** A client network, and an account, may use at most this many times as many connections as are free. */
const shareOfFree = 8

/**
 * Who may take one more connection of a pool. Nobody can take them all: not the requests of one client network or
 * account (114 of 128 while nobody else needs any, fewer the more others do), nor bodies that are still arriving (three
 * quarters). Everybody may take at least one while any is free.
 */
export class Share {
  readonly #connectionsMax: number
  readonly #receivingMax: number
  readonly #users: () => Iterable<ConnectionUser | undefined>
  readonly #networks = new Parties<ClientNetwork>(() => ({
    ...unused(),
    place: -1,
    first: undefined,
    last: undefined,
  }))
  readonly #accounts = new Parties<Party>(unused)
  #inUse = 0

  /** @param users the user of each connection; undefined = an idle one */
  constructor(connectionsMax: number, users: () => Iterable<ConnectionUser | undefined>) {
    this.#connectionsMax = connectionsMax
    this.#receivingMax = connectionsMax - Math.floor(connectionsMax / 4)
    this.#users = users
  }

  claimOf({ clientNetwork, accountId }: ConnectionUser): Claim {
    const account = accountId === undefined ? undefined : this.#accounts.of(accountId)
    return { network: this.#networks.of(clientNetwork), account }
  }

  mayTake(claim: Claim, progress: BodyProgress): boolean {
    return this.isWithin(claim) && (progress === 'complete' || this.mayReceive())
  }

  isWithin({ network, account }: Claim): boolean {
    return this.hasRoomFor(network) && (account === undefined || this.hasRoomFor(account))
  }

  hasRoomFor({ inUse }: Party): boolean {
    return inUse < shareOfFree * (this.#connectionsMax - this.#inUse)
  }

  /** Whether another body may still be arriving. */
  mayReceive(): boolean {
    if (this.#inUse < this.#receivingMax) return true
    let count = 0
    for (const user of this.#users()) if (user !== undefined && user.bodyProgress !== 'complete') count++
    return count < this.#receivingMax
  }

  take({ network, account }: Claim): void {
    this.#inUse++
    network.inUse++
    if (account) account.inUse++
  }

  release({ network, account }: Claim): void {
    this.#inUse--
    network.inUse--
    if (account) account.inUse--
  }
}

function unused(): Party {
  return { inUse: 0, waiting: 0 }
}

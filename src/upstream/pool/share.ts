import type { BodyProgress, Claim, ClientNetwork, ConnectionUser, Party, Use } from './claim.ts'
import { Parties } from './parties.ts'

/** A client network, and an account, may use at most this many times as many connections as are free. */
const shareOfFree = 8

/**
 * Who may take one more connection of a pool. Nobody can take them all: not the requests of one client network or
 * account (114 of 128 while nobody else needs any, fewer the more others do), nor bodies that are still arriving (three
 * quarters). Everybody may take at least one while any is free.
 *
 * Whose they are is only counted once it matters: it takes three look-ups in maps.
 */
export class Share {
  readonly #connectionsMax: number
  readonly #receivingMax: number
  /** While fewer are in use anybody may take one, even if a single one has them all. */
  readonly #plentyMax: number
  readonly #uses: Iterable<Use>
  readonly #networks = new Parties<ClientNetwork>(() => ({
    ...unused(),
    place: -1,
    first: undefined,
    last: undefined,
  }))
  readonly #accounts = new Parties<Party>(unused)
  #inUse = 0
  /** Whether all that are in use have a claim; if not, none has. */
  #isCounting = false

  /** @param uses the connections, or what stands for each */
  constructor(connectionsMax: number, uses: Iterable<Use>) {
    this.#connectionsMax = connectionsMax
    this.#receivingMax = connectionsMax - Math.floor(connectionsMax / 4)
    // Of 9 parts 8 may be in use by one.
    this.#plentyMax = Math.min(
      this.#receivingMax,
      Math.ceil((shareOfFree * connectionsMax) / (shareOfFree + 1)),
    )
    this.#uses = uses
  }

  /** Whether anybody may take one, without a claim. */
  get isPlenty(): boolean {
    return !this.#isCounting && this.#inUse < this.#plentyMax
  }

  /** From now on all are counted. */
  claimOf(user: ConnectionUser): Claim {
    if (!this.#isCounting) this.#startCounting()
    return this.#newClaim(user)
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
    for (const { user } of this.#uses) if (user !== undefined && user.bodyProgress !== 'complete') count++
    return count < this.#receivingMax
  }

  /** @param claim undefined = there were plenty */
  take(claim: Claim | undefined): void {
    this.#inUse++
    if (claim) addTo(claim, 1)
  }

  /** @param claim that of the Use */
  release(claim: Claim | undefined): void {
    this.#inUse--
    if (claim) addTo(claim, -1)
  }

  /**
   * To be called after a release where nobody waits. Counting ends only when half as many are in use as when it began:
   * each beginning and end is a look at all connections.
   */
  onNobodyWaits(): void {
    if (!this.#isCounting || this.#inUse > this.#plentyMax / 2) return
    this.#isCounting = false
    for (const use of this.#uses) use.claim = undefined
    this.#networks.clear()
    this.#accounts.clear()
  }

  #startCounting(): void {
    this.#isCounting = true
    for (const use of this.#uses) {
      if (use.user === undefined) continue
      use.claim = this.#newClaim(use.user)
      addTo(use.claim, 1)
    }
  }

  #newClaim({ clientNetwork, accountId }: ConnectionUser): Claim {
    const account = accountId === undefined ? undefined : this.#accounts.of(accountId)
    return { network: this.#networks.of(clientNetwork), account }
  }
}

function addTo({ network, account }: Claim, count: 1 | -1): void {
  network.inUse += count
  if (account) account.inUse += count
}

function unused(): Party {
  return { inUse: 0, waiting: 0 }
}

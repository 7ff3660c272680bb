import type { BodyProgress } from '../../client-exchange.ts'
import type { MissingShare } from '../../outgoing/failure.ts'
import {
  type Claim,
  type ClientNetwork,
  type ConnectionUser,
  Parties,
  type Party,
  type Use,
} from './parties.ts'

/** A client network or an account may use at most this many times the number of free connections. */
const shareOfFree = 8
/**
 * The same factor for an HTTP/2 connection of a client: smaller, so that one cannot use up the share of its whole
 * network.
 */
const sessionShareOfFree = 4

/**
 * Decides who may take one more connection of a pool, so that nobody can take them all. Of 128, a client network or an
 * account gets at most 114 and an HTTP/2 connection 103, while nobody else needs any; the more others use, the fewer.
 * Requests whose bodies are still arriving get three quarters, all together. Everybody may take at least one while any
 * is free.
 *
 * Who uses which connection is only tracked under contention, as that takes three look-ups in maps for each request.
 */
export class Share {
  readonly #connectionsMax: number
  readonly #receivingMax: number
  /** While fewer are in use, anybody may take one, even a user who has all of these. */
  readonly #plentyMax: number
  readonly #uses: Iterable<Use>
  readonly #networks = new Parties<ClientNetwork>(() => ({
    ...newParty(),
    place: -1,
    first: undefined,
    last: undefined,
  }))
  readonly #accounts = new Parties<Party>(newParty)
  #sessions = new WeakMap<object, Party>()
  #inUse = 0
  /** Whether all connections in use have a claim; otherwise none has. */
  #isCounting = false

  /** @param uses the connections of the pool */
  constructor(connectionsMax: number, uses: Iterable<Use>) {
    this.#connectionsMax = connectionsMax
    this.#receivingMax = connectionsMax - Math.floor(connectionsMax / 4)
    // A single user stops at 8 times what is left free, which is 8/9 of all.
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

  /** The claim of a user. From now on all connections are counted. */
  claimOf(user: ConnectionUser): Claim {
    if (!this.#isCounting) this.#startCounting()
    return this.#newClaim(user)
  }

  mayTake(claim: Claim, progress: BodyProgress): boolean {
    return this.isWithin(claim) && (progress === 'whole' || this.mayReceive())
  }

  isWithin({ network, account, session }: Claim): boolean {
    if (!this.hasRoomFor(network) || (account !== undefined && !this.hasRoomFor(account))) return false
    return session === undefined || this.#hasRoomForSession(session)
  }

  #hasRoomForSession({ inUse }: Party): boolean {
    return inUse < sessionShareOfFree * (this.#connectionsMax - this.#inUse)
  }

  /** Which share keeps a user from taking a connection, and how many connections that share has in use. */
  missingOf({ network, account, session }: Claim): { readonly share: MissingShare; readonly inUse: number } {
    if (this.#inUse >= this.#connectionsMax) return { share: 'pool', inUse: this.#inUse }
    if (session && !this.#hasRoomForSession(session)) return { share: 'session', inUse: session.inUse }
    if (account && !this.hasRoomFor(account)) return { share: 'account', inUse: account.inUse }
    if (!this.hasRoomFor(network)) return { share: 'network', inUse: network.inUse }
    return { share: 'bodies', inUse: this.#receivingMax }
  }

  hasRoomFor({ inUse }: Party): boolean {
    return inUse < shareOfFree * (this.#connectionsMax - this.#inUse)
  }

  /** Whether another connection may be used while its request's body is arriving. */
  mayReceive(): boolean {
    if (this.#inUse < this.#receivingMax) return true
    let count = 0
    for (const { user } of this.#uses) if (user !== undefined && user.bodyProgress !== 'whole') count++
    return count < this.#receivingMax
  }

  /** @param claim undefined = there were plenty */
  take(claim: Claim | undefined): void {
    this.#inUse++
    if (claim) addTo(claim, 1)
  }

  /** @param claim that of the connection */
  release(claim: Claim | undefined): void {
    this.#inUse--
    if (claim) addTo(claim, -1)
  }

  /**
   * To be called after a release if nobody waits. Counting ends only when half as many are in use as when it began, as
   * each beginning and end iterates over all connections.
   */
  onNobodyWaits(): void {
    if (!this.#isCounting || this.#inUse > this.#plentyMax / 2) return
    this.#isCounting = false
    for (const use of this.#uses) use.claim = undefined
    this.#networks.clear()
    this.#accounts.clear()
    this.#sessions = new WeakMap()
  }

  #startCounting(): void {
    this.#isCounting = true
    for (const use of this.#uses) {
      if (use.user === undefined) continue
      use.claim = this.#newClaim(use.user)
      addTo(use.claim, 1)
    }
  }

  #newClaim({ clientNetwork, accountId, clientSession }: ConnectionUser): Claim {
    const account = accountId === undefined ? undefined : this.#accounts.of(accountId)
    const session = clientSession === undefined ? undefined : this.#sessionOf(clientSession)
    return { network: this.#networks.of(clientNetwork), account, session }
  }

  #sessionOf(clientSession: object): Party {
    const known = this.#sessions.get(clientSession)
    if (known !== undefined) return known
    const party = newParty()
    this.#sessions.set(clientSession, party)
    return party
  }
}

function addTo({ network, account, session }: Claim, count: 1 | -1): void {
  network.inUse += count
  if (account) account.inUse += count
  if (session) session.inUse += count
}

function newParty(): Party {
  return { inUse: 0, waiting: 0 }
}

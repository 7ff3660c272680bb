import {
  type Clock,
  type EpochMs,
  type MonotonicClock,
  type MonotonicMs,
  monotonicClock,
} from '#platform/time.ts'
import type { Access, SchemeName } from './access.ts'
import { authenticate, mayBeKeyOrToken, type Schemes } from './authenticate.ts'
import { RecentCredentials } from './cache/recent-credentials.ts'
import { accessCookieCarrier, bearerCarrier, type Carrier, certificateCarrier } from './carriers.ts'
import { type Credential, type Credentials, isCredential } from './credentials.ts'
import type { Decision } from './decision.ts'
import type { Directory } from './directory.ts'

/** Identifies the caller of each request. */
export interface Authenticator {
  /** Synchronous if everything is cached and current. Throws or rejects only if it cannot be decided. */
  decide(access: Access, credentials: Credentials, now: MonotonicMs): Decision | Promise<Decision>
  /**
   * The credential in a part of a text, if it was decided about within the last second and nothing has changed since.
   * @param sent `carrier` undefined = a bearer token, or a secret key sent as one
   */
  recall(access: Access, sent: SentCredential, now: MonotonicMs): RecalledCredential | undefined
  /** Counts a cache hit: to be called once a recalled credential admits a request. */
  countHit(): void
  /**
   * How a credential that may be invented is looked up: as a key in the store, or as a token at its issuer (see
   * LookUpGuard). undefined = no look-up is needed.
   */
  lookUpKindOf(access: Access, credentials: Credentials): SchemeName | undefined
  /**
   * Brings the cache up to date: to be called before a caller is rejected for a role or a profile from the cache.
   * @throws GatehouseError `store-unavailable`
   */
  confirm(): Promise<void>
}

/** The position of a credential in a text, and the carrier that it came in. */
interface SentCredential {
  readonly text: string
  readonly from: number
  readonly to: number
  /** undefined = `Authorization: Bearer` */
  readonly carrier: Carrier | undefined
}

interface RecalledCredential {
  readonly credential: Credential
  readonly decision: Decision
}

interface AuthenticatorOptions {
  readonly schemes: Schemes
  readonly directory: Pick<Directory, 'version' | 'countHit' | 'confirm' | 'isCurrent' | 'catchUp'>
  readonly clock: Clock
  /** The clock of `now`; default: performance.now(). */
  readonly monotonic?: MonotonicClock
}

/** How long a decision is reused; after that the age of the cached account is checked again. */
const decisionReuseMs = 1_000
const secondsMax = 2 ** 30
const acceptedBounds = { credentialsMax: 10_000, charactersMax: 16 * 1_024 * 1_024 }
/** Separate and fewer: invented tokens must neither displace valid ones nor fill the memory. */
const refusedBounds = { credentialsMax: 1_000, charactersMax: 1_024 * 1_024 }

/**
 * Decides about each credential at most once a second while nothing changes: any change of an account, a session or a
 * signing key, and the loss of the store, invalidates all earlier decisions. A process that was suspended or starved,
 * and so has not read the change log for a while, reads it before it uses its caches again. In its last second of
 * validity, a credential is decided about anew for each request.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { schemes, directory, clock, monotonic = monotonicClock } = options
  const startedAt = clock()
  const known = new RecentCredentials<Credential>(acceptedBounds)
  /**
   * Refused tokens that could only become valid with other signing keys, such as forged ones. Secret keys are not
   * kept: refusing one again is as cheap as finding it here.
   */
  const refused = new RecentCredentials<Credential>(refusedBounds)

  /** Counted from the start, so that the number is small enough for V8 to store it without an allocation. */
  function secondsOf(time: EpochMs): number {
    return (time - startedAt) / 1_000
  }

  function decideIfCurrent(access: Access, sent: Credential, now: MonotonicMs): Decision | Promise<Decision> {
    const credential = knownOf(sent)
    const time = clock()
    return directory.isCurrent(now, time)
      ? decideOrReuse(access, credential, now, time)
      : decideAfterCatchUp(access, credential)
  }

  /** The cached credential with the same text, kind and carrier, or else the given one. */
  function knownOf(sent: Credential): Credential {
    const { text } = sent
    const found = known.find(text, 0, text.length) ?? refused.find(text, 0, text.length)
    return found?.kind === sent.kind && found.carrier === sent.carrier ? found : sent
  }

  async function decideAfterCatchUp(access: Access, credential: Credential): Promise<Decision> {
    await directory.catchUp()
    return decideOrReuse(access, credential, monotonic(), clock())
  }

  function decideOrReuse(
    access: Access,
    credential: Credential,
    now: MonotonicMs,
    time: EpochMs,
  ): Decision | Promise<Decision> {
    const version = directory.version()
    const recent = recentOf(access, credential, version, now, time)
    if (recent !== undefined) {
      if (recent.kind === 'allowed') directory.countHit()
      return recent
    }
    const decision = authenticate(access, credential, schemes)
    if (decision instanceof Promise) return decideAgainIfStale(access, credential, decision)
    if (version !== undefined && decision.holdsUntil > 0 && !isBound(decision)) {
      credential.recent = decision
      credential.recentAccess = access
      credential.recentVersion = version
      credential.recentUntil = Math.floor(now) + decisionReuseMs
      credential.recentEnd = Math.min(Math.floor(secondsOf(decision.holdsUntil)), secondsMax)
      if (credential.carrier !== accessCookieCarrier) keep(credential, decision)
    }
    return decision
  }

  function keep(credential: Credential, { kind }: Decision): void {
    if (kind === 'allowed') known.keep(credential)
    else if (credential.kind === 'bearer') refused.keep(credential)
  }

  /** The last decision about it, if it is still valid. */
  function recentOf(
    access: Access,
    { kind, recent, recentAccess, recentVersion, recentUntil, recentEnd }: Credential,
    version: object | undefined,
    now: MonotonicMs,
    time: EpochMs,
  ): Decision | undefined {
    return recent !== undefined &&
      recentAccess !== undefined &&
      recentVersion === version &&
      (recentAccess === access || isDecidedAlike(kind, access, recentAccess)) &&
      now < recentUntil &&
      secondsOf(time) < recentEnd
      ? recent
      : undefined
  }

  function recall(
    access: Access,
    { text, from, to, carrier }: SentCredential,
    now: MonotonicMs,
  ): RecalledCredential | undefined {
    const credential = known.find(text, from, to) ?? refused.find(text, from, to)
    if (credential === undefined || (credential.carrier ?? bearerCarrier) !== (carrier ?? bearerCarrier))
      return undefined
    const time = clock()
    if (!directory.isCurrent(now, time)) return undefined
    const decision = recentOf(access, credential, directory.version(), now, time)
    return decision && { credential, decision }
  }

  /** The result of a look-up is outdated if this process stalled before it read the response. */
  async function decideAgainIfStale(
    access: Access,
    credential: Credential,
    decision: Promise<Decision>,
  ): Promise<Decision> {
    const settled = await decision
    return directory.isCurrent(monotonic(), clock()) ? settled : decideAfterCatchUp(access, credential)
  }

  return {
    recall,
    countHit: directory.countHit,
    decide: (access, credentials, now) =>
      isCredential(credentials)
        ? decideIfCurrent(access, credentials, now)
        : authenticate(access, credentials, schemes),
    lookUpKindOf: (access, credentials) =>
      isCredential(credentials) && credentials.recent === undefined
        ? lookUpKindOf(access, credentials, schemes)
        : undefined,
    confirm: directory.confirm,
  }
}

function lookUpKindOf(
  access: Access,
  { kind, text, carrier }: Credential,
  { secretKey, foreign }: Schemes,
): SchemeName | undefined {
  const mayBeToken = kind === 'bearer' ? carrier !== accessCookieCarrier : mayBeKeyOrToken(kind, carrier)
  const issuers = mayBeToken && access.kind === 'protected' ? access.issuers : undefined
  const knowledge = issuers && foreign?.knowledgeOf(text, issuers)
  if (knowledge === 'unknown') return 'bearer'
  const mayBeKey = kind === 'secretKey' && carrier !== certificateCarrier && knowledge !== 'active'
  return mayBeKey && secretKey.mustLookUp?.(text) === true ? 'secretKey' : undefined
}

/** Whether each request has to bring a proof of its own, so that the decision about another does not cover it. */
function isBound(decision: Decision): boolean {
  return decision.kind === 'allowed' && decision.confirmation !== undefined
}

/** Whether both routes authenticate this scheme in the same way; roles and scopes are checked afterwards. */
function isDecidedAlike(scheme: SchemeName, one: Access, other: Access): boolean {
  return (
    one.kind === 'protected' &&
    other.kind === 'protected' &&
    one.issuers === other.issuers &&
    one.schemes.includes(scheme) &&
    other.schemes.includes(scheme)
  )
}

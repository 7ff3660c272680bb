import { errorMessage } from '#platform/errors/operator-error.ts'
import { isRecord } from '#platform/json.ts'
import type { Log } from '#platform/log/log.ts'
import type { Clock, EpochMs, MonotonicClock, MonotonicMs } from '#platform/time.ts'
import { createLru } from '../cache/bounded-caches.ts'
import { fetchJson } from './fetch-json.ts'
import {
  type ForeignClaims,
  type ForeignVerdict,
  foreignClaimsBytes,
  parseForeignClaims,
} from './foreign-claims.ts'
import type { IntrospectionEndpoint, IssuerOptions } from './issuer.ts'

/** Asks an issuer about tokens that only it can read (RFC 7662), and keeps its answers. */
export interface Introspection {
  /**
   * Returns a promise only if the issuer has to be asked, which takes `askMs` at most.
   * @param digest of the token
   */
  verify(digest: string, token: string): ForeignVerdict | Promise<ForeignVerdict>
  /** Whether nothing is known of a token, which may be invented, so that the issuer has to be asked. */
  isUnknown(digest: string): boolean
  /** Whether there is a current answer that the token is active. */
  isActive(digest: string): boolean
  /** Whether the issuer answered the last question. */
  isUp(): boolean
}

export type IntrospectionOutcome = 'active' | 'inactive' | 'failed'

export interface IntrospectionOptions {
  readonly issuer: IssuerOptions
  readonly endpoint: IntrospectionEndpoint
  readonly log: Pick<Log, 'info' | 'error'>
  readonly clockToleranceMs: number
  /** How many answers are kept. */
  readonly answersMax: number
  readonly clock: Clock
  readonly monotonic: MonotonicClock
  onAsked(outcome: IntrospectionOutcome): void
}

/** How long an answer is used, unless the token expires earlier: a revoked token is refused by then. */
export const answerMs = 60_000
/** Answers older than this are renewed in the background, so that requests neither wait nor notice outages. */
export const renewMs = 40_000
/** The pause before an answer that could not be renewed is asked for again. */
const renewalPauseMs = 5_000
/** How long a token stays refused without being asked about again. */
export const refusedMs = 10_000
/** How long a token is not asked about again after its issuer could not answer. */
const failedMs = 500
/** How long the issuer may take to answer. */
const askMs = 2_000
export const answerBytesMax = 64 * 1_024
/** How many questions may be under way at the same time: each is a connection. */
export const askingMax = 128
/** How many refusals are kept, of about 300 bytes each. */
const refusalsMax = 10_000
/** The size of an answer without the texts of its claims. */
const answerBytesEach = 512
/** An outage is logged at most this often, as the issuer may fail for some tokens and answer for others. */
const logPauseMs = 60_000

interface Answer {
  readonly claims: ForeignClaims
  readonly askedAt: MonotonicMs
  /** When the token expires according to its issuer; Infinity = the issuer does not say. */
  readonly expiresAt: EpochMs
  renewAt: MonotonicMs
}

interface Refusal {
  readonly verdict: ForeignVerdict
  readonly until: MonotonicMs
}

/** A JSON object as the issuer sent it, or why there is none, in words for the log. */
type Reply = { readonly members: Readonly<Record<string, unknown>> } | { readonly failure: string }

export function createIntrospection(options: IntrospectionOptions): Introspection {
  const { issuer, endpoint, log, clockToleranceMs, answersMax, clock, monotonic, onAsked } = options
  const authorization = basicCredentials(endpoint)
  const answers = createLru<Answer>(answersMax, {
    bytesMax: answersMax * answerBytesEach,
    sizeOf: ({ claims }) => foreignClaimsBytes(claims),
  })
  const refusals = createLru<Refusal>(refusalsMax)
  /** The questions under way, by digest of the token. */
  const asking = new Map<string, Promise<ForeignVerdict>>()
  let isUp = true
  let isOutageLogged = false
  let outageLoggedAt = Number.NEGATIVE_INFINITY

  function verify(digest: string, token: string): ForeignVerdict | Promise<ForeignVerdict> {
    const answer = answers.get(digest)
    if (answer && holds(answer)) {
      if (monotonic() >= answer.renewAt) renew(digest, token, answer)
      return { kind: 'valid', claims: answer.claims }
    }
    const refusal = refusalOf(digest)
    if (refusal) return refusal
    const current = asking.get(digest)
    if (current) return current.then(uncounted)
    return asking.size < askingMax ? ask(digest, token, answer) : tooManyQuestions
  }

  function holds({ askedAt, claims }: Answer): boolean {
    return monotonic() - askedAt < answerMs && clock() < claims.validUntil
  }

  function refusalOf(digest: string): ForeignVerdict | undefined {
    const refusal = refusals.get(digest)
    return refusal && monotonic() < refusal.until ? refusal.verdict : undefined
  }

  function renew(digest: string, token: string, answer: Answer): void {
    if (asking.has(digest) || asking.size >= askingMax) return
    answer.renewAt = monotonic() + renewalPauseMs
    void ask(digest, token, answer)
  }

  function ask(digest: string, token: string, before: Answer | undefined): Promise<ForeignVerdict> {
    const asked = decide(digest, token, before).finally(() => asking.delete(digest))
    asking.set(digest, asked)
    return asked
  }

  async function decide(digest: string, token: string, before: Answer | undefined): Promise<ForeignVerdict> {
    // The token may be revoked as soon as the question is on its way.
    const askedAt = monotonic()
    const holdsUntil = clock() + answerMs
    const reply = await request(token)
    if ('failure' in reply) {
      recordFailure(reply.failure)
      return refuse(digest, undecided, failedMs)
    }
    const isActive = reply.members.active === true
    recordSuccess(isActive)
    const read = readMembers(reply.members)
    if ('kind' in read) {
      answers.delete(digest)
      const verdict = before && clock() >= before.expiresAt ? expired : read
      refuse(digest, verdict, refusedMs)
      // A token that the issuer knows, or that was active before, is no guess: it does not count against the client.
      const isGuess = !isActive && before === undefined && verdict.kind === 'invalid'
      return isGuess ? { ...verdict, isCounted: true } : verdict
    }
    const { expiresAt } = read
    const claims = { ...read.claims, validUntil: Math.min(expiresAt, holdsUntil) }
    answers.set(digest, { claims, askedAt, expiresAt, renewAt: askedAt + renewMs })
    return { kind: 'valid', claims }
  }

  async function request(token: string): Promise<Reply> {
    try {
      const { status, json } = await fetchJson(endpoint.url, {
        method: 'POST',
        headers: { Authorization: authorization },
        body: new URLSearchParams({ token, token_type_hint: 'access_token' }),
        timeoutMs: askMs,
        bytesMax: answerBytesMax,
      })
      if (status === 401) return { failure: `${endpoint.url}: status 401: clientId or clientSecret is wrong` }
      if (status !== 200) return { failure: `${endpoint.url}: status ${status}` }
      if (!isRecord(json) || typeof json.active !== 'boolean')
        return { failure: `${endpoint.url}: it is not a JSON object with active: true or false` }
      // Some issuers write what a token does not have as null.
      return { members: Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null)) }
    } catch (error) {
      return { failure: errorMessage(error) }
    }
  }

  function readMembers(
    members: Readonly<Record<string, unknown>>,
  ): ForeignVerdict | Pick<Answer, 'claims' | 'expiresAt'> {
    if (members.active !== true) return invalid('the issuer says that the token is not active')
    const claims = parseForeignClaims(members, issuer, { clockToleranceMs, isAnswer: true })
    if ('wrong' in claims) return invalid(`a member of the response is missing or wrong: ${claims.wrong}`)
    const now = clock()
    if (now >= claims.validUntil) return expired
    if (now < claims.validFrom) return invalid('iat or nbf is in the future')
    // The issuer's clock may be behind ours.
    return { claims, expiresAt: Math.max(claims.validUntil - clockToleranceMs, now + 1_000) }
  }

  function refuse(digest: string, verdict: ForeignVerdict, forMs: number): ForeignVerdict {
    refusals.set(digest, { verdict, until: monotonic() + forMs })
    return verdict
  }

  function invalid(wrong: string): ForeignVerdict {
    return { kind: 'invalid', reason: `issuer ${issuer.name}: ${wrong}`, isCacheable: false }
  }

  function recordSuccess(isActive: boolean): void {
    onAsked(isActive ? 'active' : 'inactive')
    isUp = true
    if (isOutageLogged) log.info({ issuer: issuer.name }, 'the issuer answers introspection again')
    isOutageLogged = false
  }

  function recordFailure(reason: string): void {
    onAsked('failed')
    isUp = false
    if (isOutageLogged || monotonic() - outageLoggedAt < logPauseMs) return
    isOutageLogged = true
    outageLoggedAt = monotonic()
    log.error(
      { issuer: issuer.name, reason },
      'introspection fails: tokens without an answer of the last minute get 503',
    )
  }

  return {
    verify,
    isUnknown: (digest) =>
      answers.get(digest) === undefined && refusalOf(digest) === undefined && !asking.has(digest),
    isActive: (digest) => {
      const answer = answers.get(digest)
      return answer !== undefined && holds(answer)
    },
    isUp: () => isUp,
  }
}

const expired = { kind: 'expired' } as const
const undecided = { kind: 'undecided', reason: 'introspection of the token failed' } as const
const tooManyQuestions = {
  kind: 'undecided',
  reason: 'too many introspections are in progress',
} as const

/** The verdict for the other requests that waited for the same answer: a failure counts only once. */
function uncounted(verdict: ForeignVerdict): ForeignVerdict {
  return verdict.kind === 'invalid' ? { ...verdict, isCounted: false } : verdict
}

/** ID and secret are form-encoded first (RFC 6749 2.3.1). */
function basicCredentials({ clientId, clientSecret }: IntrospectionEndpoint): string {
  return `Basic ${Buffer.from(`${formEncode(clientId)}:${formEncode(clientSecret)}`).toString('base64')}`
}

function formEncode(text: string): string {
  return new URLSearchParams({ text }).toString().slice('text='.length)
}

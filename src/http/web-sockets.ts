import { digestOf } from '../accounts/keys.ts'
import { type Admission, isStillValid, type Known } from '../auth/still-valid.ts'
import { isOutOfReach } from '../errors.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Tunnel } from '../proxy/tunnel.ts'
import type { Change } from '../store/store.ts'
import { roleEpochIn, signingKeyIdOf } from '../tokens/token-text.ts'
import { principalOf } from './arrival.ts'
import { type AcceptedUpgrade, acceptUpgrade } from './upgrade.ts'

/** All open WebSockets. */
export interface WebSockets {
  accept(upgrade: AcceptedUpgrade): void
  /** Closes those whose principal a change has revoked; undefined = any of them may be. */
  recheck(change: Change | undefined): void
  /** Closes them all, with a code of RFC 6455 7.4. */
  closeAll(code: number, reason: string): void
}

export interface WebSocketsOptions {
  readonly metrics: Metrics
  readonly clock: () => number
  /** A function, since the directory is opened after the source of changes, which needs the WebSockets. */
  known(): Known
}

interface OpenWebSocket {
  readonly tunnel: Tunnel
  /** undefined = nobody was authenticated. */
  readonly admission: Admission | undefined
  /** Set when it is to be checked again without a change. */
  timer: NodeJS.Timeout | undefined
}

/** A close code for applications (RFC 6455 7.4.2): the credential is no longer valid. */
const revokedCode = 4001
/** A fault of the server (RFC 6455 7.4.1): whether the credential is still valid cannot be found out. */
const faultCode = 1011
/** When to check again if the store was out of reach. */
const askAgainMs = 1_000
/** Node fires a timer above 2^31 ms at once, so it is checked again at least once a day. */
const longestWaitMs = 24 * 3_600_000

export function createWebSockets({ metrics, clock, known }: WebSocketsOptions): WebSockets {
  const all = new Set<OpenWebSocket>()
  /** The WebSockets by the IDs that changes name: those of accounts and sessions. */
  const bySubject = new Map<string, Set<OpenWebSocket>>()

  function accept(upgrade: AcceptedUpgrade): void {
    metrics.webSocketsOpen.inc()
    const tunnel = acceptUpgrade(upgrade, () => {
      forget(open)
      metrics.webSocketsOpen.dec()
    })
    const open: OpenWebSocket = { tunnel, admission: admissionOf(upgrade), timer: undefined }
    all.add(open)
    for (const subject of subjectsOf(open)) {
      bySubject.set(subject, (bySubject.get(subject) ?? new Set()).add(open))
    }
    // The credential may have been revoked between the decision and the upstream's answer.
    check(open)
  }

  function forget(open: OpenWebSocket): void {
    all.delete(open)
    clearTimeout(open.timer)
    for (const subject of subjectsOf(open)) {
      const others = bySubject.get(subject)
      others?.delete(open)
      if (others?.size === 0) bySubject.delete(subject)
    }
  }

  function check(open: OpenWebSocket): void {
    const { admission, tunnel } = open
    if (!admission || !all.has(open)) return
    isStillValid(admission, known(), clock())
      .then((isValid) => {
        if (isValid) return checkAtEndOfGrace(open, admission)
        tunnel.close(revokedCode, 'revoked')
        return undefined
      })
      .catch((error: unknown) => {
        if (isOutOfReach(error)) checkLater(open, askAgainMs)
        else tunnel.close(faultCode, 'internal error')
      })
  }

  function checkLater(open: OpenWebSocket, waitMs: number): void {
    clearTimeout(open.timer)
    // It may have closed during the check.
    if (all.has(open)) open.timer = setTimeout(() => check(open), waitMs).unref()
  }

  /** A replaced key is valid until its grace is over, and no change is announced at that time. */
  async function checkAtEndOfGrace(open: OpenWebSocket, { principal, keyDigest }: Admission): Promise<void> {
    if (keyDigest === undefined) return
    const account = await known().directory.account(principal.accountId)
    const previous = account?.previousSecretKey
    if (!previous || Buffer.compare(previous.digest, keyDigest) !== 0) return
    const waitMs = Math.min(Math.max(0, previous.validUntil - clock()), longestWaitMs)
    checkLater(open, waitMs)
  }

  /** The WebSockets that a change may concern. */
  function concernedBy(change: Change | undefined): Iterable<OpenWebSocket> {
    switch (change?.kind) {
      case 'account':
        return bySubject.get(change.accountId) ?? []
      case 'session':
        return bySubject.get(change.sessionId) ?? []
      case 'signing-keys':
        return [...all].filter(({ admission }) => admission?.signedBy !== undefined)
      case undefined:
        return all
      default:
        return change satisfies never
    }
  }

  return {
    accept,
    recheck: (change) => {
      for (const open of concernedBy(change)) check(open)
    },
    closeAll: (code, reason) => {
      for (const { tunnel } of all) tunnel.close(code, reason)
    },
  }
}

function admissionOf({ arrival }: AcceptedUpgrade): Admission | undefined {
  const { access, fields } = arrival
  const principal = principalOf(arrival)
  const { credentials } = fields
  if (!principal || !access) return undefined
  const admission = { principal, access, keyDigest: undefined, signedBy: undefined, roleEpoch: undefined }
  switch (credentials.kind) {
    case 'secretKey':
      return { ...admission, keyDigest: digestOf(credentials.text) }
    case 'bearer':
      return {
        ...admission,
        signedBy: signingKeyIdOf(credentials.text),
        roleEpoch: roleEpochIn(credentials.text),
      }
    default:
      return undefined
  }
}

function subjectsOf({ admission }: OpenWebSocket): string[] {
  if (!admission) return []
  const { accountId, sessionId } = admission.principal
  return sessionId === undefined ? [accountId] : [accountId, sessionId]
}

import { type AdmittedCaller, type AuthState, admittedUntil } from '#identity/admitted-until.ts'
import { certificateCarrier } from '#identity/carriers.ts'
import { type Credential, isCredential } from '#identity/credentials.ts'
import { roleEpochIn } from '#identity/tokens/access-token-claims.ts'
import { signingKeyIdOf } from '#identity/tokens/jwt.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import { isStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import { digestOf } from '#platform/secrets/keys.ts'
import { type Clock, dayMs } from '#platform/time.ts'
import type { Change } from '#store/changes.ts'
import { credentialsOf, type GatedArrival } from '../arrival/arrival.ts'
import { principalOf } from '../arrival/outcome.ts'
import type { Tunnel } from '../forward/tunnel.ts'

/**
 * The callers whose WebSocket, event stream or gRPC call is open. Each is closed once its credential is no longer
 * valid.
 */
export interface OpenCallers {
  /** @param openTunnel opens the WebSocket, and gets the function to call once it has closed */
  followTunnel(arrival: GatedArrival, openTunnel: (onClosed: () => void) => Tunnel): void
  /**
   * @param end ends the stream or call
   * @returns what to call once it has ended
   */
  followStream(arrival: GatedArrival, end: () => void): () => void
  /** Closes those whose credential a change has revoked; undefined = all may be affected. */
  revalidate(change: Change | undefined): void
  /** Closes all WebSockets, and those that are opened from now on, with a code of RFC 6455 7.4. */
  closeTunnels(code: number, reason: string): void
}

interface OpenCallersOptions {
  readonly metrics: Metrics
  readonly clock: Clock
  /** What credentials are checked against; a reload may replace it. */
  authState(): AuthState
}

interface OpenCaller {
  /** The WebSocket, event stream or gRPC call. */
  readonly opened: Pick<Tunnel, 'close'>
  /** Whether it is an event stream or a gRPC call, which `closeTunnels` leaves open. */
  readonly isStream: boolean
  /** undefined = anonymous. */
  readonly caller: AdmittedCaller | undefined
  /** The next check, if one is due without a change. */
  timer: NodeJS.Timeout | undefined
}

/** A close code for applications (RFC 6455 7.4.2): the credential is no longer valid. */
const revokedCode = 4001
/** Internal error (RFC 6455 7.4.1): whether the credential is still valid cannot be determined. */
const internalErrorCode = 1011
/** When to check again if the store was unavailable. */
const retryMs = 1_000
/** Node fires a timer above 2^31 ms at once, so it is checked again at least once a day. */
const recheckMaxMs = dayMs

export function createOpenCallers({ metrics, clock, authState }: OpenCallersOptions): OpenCallers {
  const all = new Set<OpenCaller>()
  /** By the IDs that changes name: those of accounts, sessions and foreign principals. */
  const bySubject = new Map<string, Set<OpenCaller>>()
  /** Set once all WebSockets are closed: the backend may still accept one that was requested before. */
  let closing: Parameters<Tunnel['close']> | undefined

  function followTunnel(arrival: GatedArrival, openTunnel: (onClosed: () => void) => Tunnel): void {
    metrics.webSocketsOpen.inc()
    // Read first: once the tunnel is open, the request's credentials are forgotten.
    const caller = admittedCallerOf(arrival)
    const tunnel = openTunnel(() => {
      remove(open)
      metrics.webSocketsOpen.dec()
    })
    const open: OpenCaller = { opened: tunnel, isStream: false, caller, timer: undefined }
    add(open)
    if (closing) tunnel.close(...closing)
  }

  function followStream(arrival: GatedArrival, end: () => void): () => void {
    const caller = admittedCallerOf(arrival)
    const open: OpenCaller = { opened: { close: end }, isStream: true, caller, timer: undefined }
    add(open)
    return () => remove(open)
  }

  function add(open: OpenCaller): void {
    all.add(open)
    for (const subject of subjectsOf(open)) {
      bySubject.set(subject, (bySubject.get(subject) ?? new Set()).add(open))
    }
    // The credential may have been revoked while the upstream was answering.
    check(open)
  }

  function remove(open: OpenCaller): void {
    all.delete(open)
    clearTimeout(open.timer)
    for (const subject of subjectsOf(open)) {
      const others = bySubject.get(subject)
      others?.delete(open)
      if (others?.size === 0) bySubject.delete(subject)
    }
  }

  function check(open: OpenCaller): void {
    const { caller, opened } = open
    if (!caller || !all.has(open)) return
    admittedUntil(caller, authState(), clock())
      .then((until) => {
        // It may have closed by now: its exchange can already carry another request.
        if (!all.has(open)) return
        if (until === 0) opened.close(revokedCode, 'revoked')
        // The expiry of a key, or the end of an overlap, is not announced as a change.
        else if (until < Number.POSITIVE_INFINITY) {
          checkLater(open, Math.min(Math.max(0, until - clock()), recheckMaxMs))
        }
      })
      .catch((error: unknown) => {
        if (!all.has(open)) return
        if (isStoreUnavailable(error)) checkLater(open, retryMs)
        else opened.close(internalErrorCode, 'internal error')
      })
  }

  function checkLater(open: OpenCaller, waitMs: number): void {
    clearTimeout(open.timer)
    open.timer = setTimeout(() => check(open), waitMs).unref()
  }

  function affectedBy(change: Change | undefined): Iterable<OpenCaller> {
    switch (change?.kind) {
      case 'account':
        return bySubject.get(change.accountId) ?? []
      case 'session':
        return bySubject.get(change.sessionId) ?? []
      case 'signing-keys':
        return [...all].filter(({ caller }) => caller?.signedBy !== undefined)
      case 'subject':
        return bySubject.get(change.principalId) ?? []
      case undefined:
        return all
      default:
        return change satisfies never
    }
  }

  return {
    followTunnel,
    followStream,
    revalidate: (change) => {
      for (const open of affectedBy(change)) check(open)
    },
    closeTunnels: (code, reason) => {
      closing = [code, reason]
      for (const { opened, isStream } of all) if (!isStream) opened.close(code, reason)
    },
  }
}

function admittedCallerOf(arrival: GatedArrival): AdmittedCaller | undefined {
  const { access } = arrival.outcome
  const principal = principalOf(arrival.outcome)
  const credentials = credentialsOf(arrival)
  if (!principal || !access || !isCredential(credentials)) return undefined
  const { kind, text } = credentials
  const isOwnToken = kind === 'bearer' && principal.issuer === undefined
  return {
    principal,
    access,
    address: arrival.client.address,
    keyDigest: kind === 'secretKey' ? digestOfKey(credentials) : undefined,
    signedBy: isOwnToken ? signingKeyIdOf(text) : undefined,
    roleEpoch: isOwnToken ? roleEpochIn(text) : undefined,
  }
}

function subjectsOf({ caller }: OpenCaller): string[] {
  if (!caller) return []
  const { accountId, sessionId } = caller.principal
  return sessionId === undefined ? [accountId] : [accountId, sessionId]
}

/** A certificate is known by its digest alone. */
function digestOfKey({ text, carrier }: Credential): Uint8Array {
  return carrier === certificateCarrier ? Buffer.from(text, 'base64url') : digestOf(text)
}

import type { Client } from '#gateway/arrival/client.ts'
import { createHeaderRules } from '#gateway/forward/header-rules.ts'
import { createIdentityWriter, type IdentityHeaders } from '#gateway/forward/identity-headers.ts'
import { createOwnCookies } from '#gateway/forward/own-cookies.ts'
import {
  createRequestWriter,
  type RequestHeadInput,
  type RequestWriter,
} from '#gateway/forward/upstream-head.ts'
import type { Access } from '#identity/access.ts'
import type { Principal } from '#identity/decision.ts'
import { usualCarriers } from '../../setup/carriers.ts'

export const principal: Principal = {
  accountId: 'acc_1',
  role: 'Admin',
  scheme: 'bearer',
  sessionId: 'ses_1',
  key: 'default',
  scopes: [],
  addresses: [],
  quota: undefined,
  plan: undefined,
  issuer: undefined,
  profile: { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace', isVerified: true },
}

export const client: Client = {
  address: '203.0.113.7',
  isTrusted: false,
  forwardedFor: '203.0.113.7',
  protocol: 'https',
  host: 'api.example.com',
}

export const identityHeaders: IdentityHeaders = { id: 'X-User-Id', role: 'X-User-Role' }

export function writerOf(headers: IdentityHeaders = identityHeaders): RequestWriter {
  const names = Object.values(headers).filter((name) => name !== undefined)
  return createRequestWriter({
    rules: createHeaderRules(names, usualCarriers),
    writeIdentity: createIdentityWriter(headers),
    assertion: undefined,
    ownCookies: createOwnCookies({ names: ['refreshToken'] }),
  })
}

export const routeOf = (forwardsCredentials: boolean, passesMethodOverride = false) => ({
  forwardsCredentials,
  access: { kind: 'public', leavesAuthorization: false } as Access,
  passesMethodOverride,
  costField: undefined,
  passesTrailers: false,
  upstream: { name: 'backend', headers: undefined },
})

/** What is written for a principal's GET. */
export function inputOf(rawHeaders: readonly string[]): RequestHeadInput {
  return {
    rawHeaders,
    route: routeOf(false),
    principal,
    client,
    requestId: 'req-1',
    strippedPrefix: undefined,
    body: { kind: 'none', isEmpty: false },
    connectionOptions: undefined,
    isUpgrade: false,
    isLast: false,
    minorVersion: 1,
  }
}

/** The lines of a head for a principal's GET, less what is changed. */
export function linesOf(
  rawHeaders: readonly string[],
  changes: Partial<RequestHeadInput> = {},
): readonly string[] {
  const head = writerOf().writeHead({ ...inputOf(rawHeaders), ...changes })
  if (!head.endsWith('\r\n')) throw new Error('the last line has no end')
  return head.split('\r\n').slice(0, -1)
}

/** What the gateway says in any case. */
export const ownLines = [
  'X-Forwarded-Proto: https',
  'X-Forwarded-Host: api.example.com',
  'X-Forwarded-For: 203.0.113.7',
  'X-Request-Id: req-1',
  'X-User-Id: acc_1',
  'X-User-Role: Admin',
]

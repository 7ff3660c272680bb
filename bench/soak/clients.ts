import { randomBytes, randomInt } from 'node:crypto'
import type { CreatedAccount } from '#accounts/accounts.ts'
import { tamper } from '../../test/setup/tamper.ts'
import { summarizeResponse } from './faults.ts'
import type { Caller, ResponseChecker } from './response-checker.ts'
import type { Outcome, Send } from './send.ts'

/** State that the clients of the load share. */
export interface SoakContext {
  readonly send: Send
  readonly ledger: ResponseChecker
  /** The URLs of the instances. */
  readonly urls: readonly string[]
  /** Whether the store is unreachable, or was a moment ago: then a reset may not have reached every instance yet. */
  isStoreAtRisk(): boolean
  isOver(): boolean
}

const bodyBytesMax = 65_536
const pauseMs = 3
const refreshEveryMs = 1_500
/** How long the old key may still be accepted after the response to a reset (docs/operators/accounts-and-keys.md). */
const revokedWithinMs = 500
/** The machine may be busy with the start of the gateways. */
const signInAttempts = 20
const json = { 'Content-Type': 'application/json' }

export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const any = <Value>(values: readonly Value[]): Value => {
  const value = values[randomInt(values.length)]
  if (value === undefined) throw new Error('nothing to choose from')
  return value
}

/** To the backend over HTTP/1.1, or over HTTP/2. */
const paths = ['a', 'h2/a'] as const
const slowPaths = ['slow', 'h2/slow'] as const

const callerOf = ({ account: { id, role } }: CreatedAccount): Caller => ({ id, role })

/** A client with a secret key that reads, writes, aborts requests, and is sometimes anonymous. */
export async function runKeyClient(soak: SoakContext, account: CreatedAccount): Promise<void> {
  const { send, ledger, urls, isOver } = soak
  const headers = { SecretKey: account.secretKey }
  const caller = callerOf(account)
  while (!isOver()) {
    const url = any(urls)
    const turn = randomInt(100)
    if (turn < 40) {
      ledger.expectForwarded(
        'GET by key',
        await send({ url: `${url}/${any(paths)}`, method: 'GET', headers }),
        caller,
      )
    } else if (turn < 65) {
      const body = randomBytes(randomInt(1, bodyBytesMax))
      const outcome = await send({ url: `${url}/${any(paths)}`, method: 'POST', headers, body })
      ledger.expectForwarded('POST by key', outcome, caller, body.length)
    } else if (turn < 80) {
      const spoofed = { 'X-User-Id': caller.id, x_user_role: 'Admin' }
      const outcome = await send({ url: `${url}/public/${any(paths)}`, method: 'GET', headers: spoofed })
      ledger.expectForwarded('anonymous GET', outcome, undefined)
    } else if (turn < 90) {
      const wrong = { SecretKey: tamper(account.secretKey) }
      const outcome = await send({ url: `${url}/${any(paths)}`, method: 'GET', headers: wrong })
      ledger.expectStatus('GET by a wrong key', outcome, [401])
    } else {
      const body = randomBytes(bodyBytesMax)
      // Its response is ignored: what matters is that no other client gets it.
      await send({
        url: `${url}/${any(slowPaths)}`,
        method: 'POST',
        headers,
        body,
        cutAfterMs: randomInt(1, 200),
      })
    }
    await sleep(pauseMs)
  }
}

/** A client with tokens that it refreshes. @returns whether the last acknowledged refresh token is still valid */
export async function runTokenClient(soak: SoakContext, account: CreatedAccount): Promise<boolean> {
  const { send, ledger, urls, isOver } = soak
  const caller = callerOf(account)
  let tokens = await signIn(soak, account)
  let refreshAt = performance.now() + refreshEveryMs
  let hasEnded = false

  async function refresh(): Promise<boolean> {
    const body = Buffer.from(JSON.stringify({ token: tokens.refresh }))
    const url = `${any(urls)}/api/v1/accounts/refresh-token`
    const outcome = await send({ url, method: 'POST', headers: json, body })
    ledger.expectStatus('refresh', outcome, [200])
    if (outcome.status === 401) hasEnded = true
    if (outcome.status !== 200) return false
    tokens = tokensIn(outcome, 'jwtToken', 'refreshToken')
    return true
  }

  while (!isOver() && !hasEnded) {
    const headers = { Authorization: `Bearer ${tokens.access}` }
    const outcome = await send({ url: `${any(urls)}/${any(paths)}`, method: 'GET', headers })
    ledger.expectForwarded('GET by token', outcome, caller)
    if (performance.now() >= refreshAt) {
      await refresh()
      refreshAt = performance.now() + refreshEveryMs
    }
    await sleep(pauseMs)
  }
  for (let attempt = 0; attempt < 20 && !hasEnded; attempt++) {
    if (await refresh()) return true
    await sleep(refreshEveryMs)
  }
  return false
}

interface Tokens {
  readonly access: string
  readonly refresh: string
}

async function signIn({ send, urls }: SoakContext, { secretKey, apiKey }: CreatedAccount): Promise<Tokens> {
  const body = Buffer.from(JSON.stringify({ SecretKey: secretKey, APIKey: apiKey }))
  const url = `${any(urls)}/api/v1/accounts/access-token`
  for (let attempt = 1; ; attempt++) {
    const outcome = await send({ url, method: 'POST', headers: json, body })
    if (outcome.status === 200) return tokensIn(outcome, 'JwtToken', 'RefreshToken')
    if (attempt === signInAttempts) throw new Error(`no tokens: ${outcome.status} ${outcome.text}`)
    await sleep(500)
  }
}

function tokensIn({ text }: Outcome, access: string, refresh: string): Tokens {
  // The cast is sound: a 200 of these endpoints has exactly these members, both texts.
  const body = JSON.parse(text) as Readonly<Record<string, string>>
  return { access: body[access] ?? '', refresh: body[refresh] ?? '' }
}

/** The results of the key resets of one account. */
export interface ResetResults {
  readonly acknowledged: number
  /** Acknowledged resets that were lost: the new key rejected, or the old one accepted 500 ms later. */
  readonly broken: number
}

/** An Admin that resets one account's key repeatedly, and checks that each acknowledged reset persists. */
export async function runResetClient(
  soak: SoakContext,
  account: CreatedAccount,
  admin: CreatedAccount,
): Promise<ResetResults> {
  const { send, ledger, urls, isOver } = soak
  const path = `/api/v1/admin/accounts/${account.account.id}/secret-key`
  let current = account.secretKey
  let acknowledged = 0
  let broken = 0

  async function statusOf(key: string): Promise<number> {
    for (;;) {
      const outcome = await send({
        url: `${any(urls)}/${any(paths)}`,
        method: 'GET',
        headers: { SecretKey: key },
      })
      if (outcome.status === 200 || outcome.status === 401) return outcome.status
      ledger.expectStatus('GET after a reset', outcome, [200, 401])
      await sleep(200)
    }
  }

  while (!isOver()) {
    const headers = { ...json, SecretKey: admin.secretKey }
    const body = Buffer.from('{}')
    const outcome = await send({ url: any(urls) + path, method: 'POST', headers, body })
    ledger.expectStatus('reset', outcome, [200])
    if (outcome.status === 200) {
      acknowledged++
      const made = /"secretKey":"([^"]+)"/.exec(outcome.text)?.[1] ?? ''
      await sleep(revokedWithinMs)
      if ((await statusOf(made)) !== 200) broken++
      let isRevoked = (await statusOf(current)) === 401
      while (!isRevoked && soak.isStoreAtRisk()) {
        await sleep(revokedWithinMs)
        isRevoked = (await statusOf(current)) === 401
      }
      if (!isRevoked) broken++
      current = made
    } else if (summarizeResponse(outcome).status !== 429) {
      // It may have been saved or not: the next acknowledged reset decides.
      await sleep(1_000)
    }
    await sleep(500)
  }
  return { acknowledged, broken }
}

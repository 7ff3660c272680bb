import type { Test } from 'tap'
import { AssertionError, createVerifier, type RevocationOptions, type Verifier } from '#library/verify.ts'
import { startServer } from '../../setup/backend.ts'
import { startBoth } from '../../setup/both.ts'
import { isApp, type TestGateway, type TestGatewayOptions } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'

export const feedConfig = {
  identity: { assertion: { enabled: true } },
  tokens: { revocationFeed: { enabled: true } },
}

export const revocationsPath = '/api/v1/revocations'

/** Passes events on as an attacker in between might. @param event with its empty line */
export type Relay = (event: string, pass: (event: string) => void, index: number) => unknown

interface StartOptions {
  readonly revocations?: Partial<RevocationOptions>
  readonly gateway?: TestGatewayOptions
  readonly clock?: () => number
  /** Where events go through, which a test may replace; absent = the reader asks the gateway. */
  readonly relay?: { pass: Relay }
}

/** A gateway, a verifier that follows its revocations, and an account with its assertions. */
export async function startFollowing(t: Test, options: StartOptions = {}) {
  const { gateway, backend } = await startBoth(t, { config: feedConfig, ...options.gateway })
  const reader = await gateway.createAccount({ role: 'Admin' })
  const states: string[] = []
  const errors: unknown[] = []
  const { relay } = options
  const feedUrl = relay ? await startRelay(t, gateway.url, relay) : gateway.url
  const verifier = followingVerifier(t, gateway, {
    revocations: {
      url: feedUrl + revocationsPath,
      headers: { SecretKey: reader.secretKey },
      onState: (state) => states.push(state),
      onError: (error) => errors.push(error),
      ...options.revocations,
    },
    ...(options.clock && { clock: options.clock }),
  })
  const created = await gateway.createAccount({ role: 'Editor' })

  async function assertionOf(headers: Readonly<Record<string, string>>): Promise<string> {
    const response = await fetch(`${gateway.url}/any`, { headers })
    t.equal(response.status, 200)
    return String(backend.last().headers['x-gatehouse-assertion'])
  }

  return { gateway, backend, reader, verifier, created, states, errors, assertionOf }
}

export function followingVerifier(
  t: Test,
  { url }: Pick<TestGateway, 'url'>,
  options: { readonly revocations: RevocationOptions; readonly clock?: () => number },
): Verifier {
  const verifier = createVerifier({
    jwksUrl: `${url}/.well-known/jwks.json`,
    issuer: 'http://localhost:8080',
    // In an app the audience is the name of the proxy, which is the name of the route here.
    audience: isApp() ? 'any' : 'backend',
    ...options,
  })
  t.teardown(verifier.close)
  return verifier
}

/** A server between a gateway and the reader of its revocations. */
function startRelay(t: Test, gatewayUrl: string, relay: { pass: Relay }): Promise<string> {
  return startServer(t, async ({ url, headers }, response) => {
    const stopped = new AbortController()
    response.once('close', () => stopped.abort())
    response.on('error', () => {})
    try {
      const answer = await fetch(gatewayUrl + url, {
        headers: { SecretKey: String(headers.secretkey) },
        signal: stopped.signal,
      })
      response.writeHead(answer.status, { 'Content-Type': 'text/event-stream' })
      let text = ''
      let index = 0
      for await (const chunk of answer.body ?? []) {
        const events = (text + Buffer.from(chunk).toString()).split(/(?<=\n\n)/)
        text = events.at(-1)?.endsWith('\n\n') ? '' : (events.pop() ?? '')
        for (const event of events) relay.pass(event, (passed) => response.write(passed), index++)
      }
      response.end()
    } catch {
      response.destroy()
    }
  })
}

export async function codeOf(verifying: Promise<unknown>): Promise<string> {
  try {
    await verifying
    return 'verified'
  } catch (error) {
    if (error instanceof AssertionError) return error.code
    throw error
  }
}

/** Waits until an assertion gets a code. @returns how long that took, in milliseconds */
export async function untilCode(verifier: Verifier, assertion: string, code: string): Promise<number> {
  const begunAt = performance.now()
  await until(code, async () => (await codeOf(verifier.verify(assertion))) === code)
  return performance.now() - begunAt
}

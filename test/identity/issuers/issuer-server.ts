import type { IncomingMessage, ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import type { Test } from 'tap'
import { startServer } from '../../setup/backend.ts'

/** A key of an issuer, as jose makes it. */
export interface IssuerKey {
  readonly kid: string
  readonly alg: string
  readonly privateKey: CryptoKey
  /** As it is published. */
  readonly jwk: Readonly<Record<string, unknown>>
}

export async function newIssuerKey(kid: string, alg = 'ES256'): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

/** Claims of a token that is right; times are now. */
export function rightClaims(issuer: string, changes: JWTPayload = {}): JWTPayload {
  const now = Math.floor(Date.now() / 1_000)
  return { iss: issuer, aud: 'orders', sub: 'ada', iat: now, exp: now + 300, ...changes }
}

export function signToken(
  { kid, alg, privateKey }: IssuerKey,
  claims: JWTPayload,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header }).sign(privateKey)
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A real issuer over HTTP, whose keys and behaviour a test may change. */
export async function startIssuer(t: Test, keys: readonly IssuerKey[]) {
  const seen: string[] = []
  const state: { keys: readonly IssuerKey[]; answer: Answer | undefined } = { keys, answer: undefined }
  const url = await startServer(t, (request, response) => {
    seen.push(request.url ?? '')
    if (state.answer) return state.answer(request, response)
    if (request.url === '/.well-known/openid-configuration')
      return json({ issuer: url, jwks_uri: `${url}/jwks` })
    if (request.url === '/jwks') return json({ keys: state.keys.map(({ jwk }) => jwk) })
    response.writeHead(404).end()

    function json(body: unknown): void {
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body))
    }
  })
  return {
    url,
    state,
    /** The paths that were asked for. */
    seen,
    sign: (claims: JWTPayload = {}, header: Readonly<Record<string, unknown>> = {}, key = state.keys[0]) => {
      if (!key) throw new Error('the issuer has no key')
      return signToken(key, rightClaims(url, claims), header)
    },
  }
}

import { createHash, randomUUID } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'

type Members = Readonly<Record<string, unknown>>

/** The key of a client that proves to have it (DPoP). */
export interface ProofClient {
  readonly jwk: JWK
  readonly privateJwk: JWK
  readonly jkt: string
  readonly privateKey: CryptoKey
  /** A proof that is right but for the changes; `undefined` leaves a claim out. */
  prove(
    request: ProvenBy,
    changes?: { readonly claims?: Members; readonly header?: Members },
  ): Promise<string>
}

interface ProvenBy {
  readonly url: string
  readonly method?: string
  readonly token?: string
}

export async function newProofClient(alg = 'ES256'): Promise<ProofClient> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = await exportJWK(publicKey)
  return {
    jwk,
    privateJwk: await exportJWK(privateKey),
    privateKey,
    jkt: await calculateJwkThumbprint(jwk),
    prove: ({ url, method = 'GET', token }, { claims = {}, header = {} } = {}) =>
      new SignJWT({ ...proofClaims({ url, method, token }), ...claims })
        .setProtectedHeader({ typ: 'dpop+jwt', alg, jwk, ...header })
        .sign(privateKey),
  }
}

export function proofClaims({ url, method = 'GET', token }: ProvenBy | (ProvenBy & { token: undefined })) {
  return {
    jti: randomUUID(),
    htm: method,
    htu: url,
    iat: Math.floor(Date.now() / 1_000),
    ...(token !== undefined && { ath: athOf(token) }),
  }
}

export function athOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

import { createSigner, createVerifier } from 'fast-jwt'
import { keyText, type SigningKey } from './signing-keys.ts'

/** Makes a tool of each key once. By key, not by ID: one that is replaced under its ID gets tools of its own. */
export function perKey<Tool>(make: (key: SigningKey) => Tool): (key: SigningKey) => Tool {
  const known = new WeakMap<SigningKey, Tool>()
  return (key) => {
    const before = known.get(key)
    if (before !== undefined) return before
    const tool = make(key)
    known.set(key, tool)
    return tool
  }
}

/** Makes JWTs of one type (RFC 8725 3.11): what is signed for one purpose cannot pass for another. */
export function createJwtSigner(
  { kid, material: { algorithm, privateKey } }: SigningKey,
  type: string,
): (claims: Readonly<Record<string, unknown>>) => string {
  if (!privateKey) throw new Error(`the key ${kid} cannot sign`)
  const header = { alg: algorithm, typ: type, kid }
  return createSigner({ key: keyText(privateKey, 'pkcs8'), algorithm, kid, header })
}

/** Checks signatures by one key, and nothing else: type, times and claims are for the caller to judge. */
export function createJwtVerifier({
  material: { algorithm, publicKey },
}: SigningKey): (token: string) => unknown {
  return createVerifier({
    key: keyText(publicKey, 'spki'),
    // The algorithm of the key, never that of the token (RFC 8725 3.1).
    algorithms: [algorithm],
    // Times are looked at on every use, with the clock of the gateway.
    ignoreExpiration: true,
    ignoreNotBefore: true,
    cache: false,
  })
}

import { createHmac } from 'node:crypto'
import { deriveKeys, isSameText, type KeySource } from '#platform/secrets/sealing.ts'
import type { Clock } from '#platform/time.ts'

/** Nonces that clients have to put into their proofs (RFC 9449 8), so that none can be made in advance. */
export interface ProofNonces {
  /** Good for at least the lifetime of a proof, and for any request at any instance. */
  current(): string
  isValid(nonce: unknown): boolean
}

/** A nonce is the number of a span of time, and a MAC over it: none is stored. */
export function createProofNonces(sealingKeys: KeySource, lifetimeMs: number, clock: Clock): ProofNonces {
  const keys = deriveKeys(sealingKeys, 'proof-nonce')

  function nonceOf(key: Uint8Array, span: number): string {
    return `${span}.${createHmac('sha256', key).update(`${lifetimeMs} ${span}`).digest('base64url')}`
  }

  return {
    current: () => nonceOf(keys()[0], Math.floor(clock() / lifetimeMs)),
    isValid: (nonce) => {
      if (typeof nonce !== 'string') return false
      const now = Math.floor(clock() / lifetimeMs)
      // The clock of another instance may be ahead.
      const spans = [now, now - 1, now + 1]
      return keys().some((key) => spans.some((span) => isSameText(nonceOf(key, span), nonce)))
    },
  }
}

import type { FastifyRequest } from 'fastify'
import { arrivalOf } from '#gateway/arrival/arrival.ts'
import { proofOrRefusal, provenRequest, useProof } from '#gateway/gate/possession.ts'
import type { Proofs } from '#identity/proofs.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'

/** The proof of a client that asks for a token: the token will be bound to its key. */
interface TokenProof {
  /** The thumbprint of the key. */
  readonly jkt: string
  /**
   * To be called once the client is authorised, so that strangers use up nothing.
   * @throws GatehouseError `proof-invalid`
   */
  use(): Promise<void>
}

/**
 * The proof beside a token request (RFC 9449 5); undefined = there is none.
 * @throws GatehouseError `proof-invalid`, `proof-nonce-required`
 */
type ReadTokenProof = (request: FastifyRequest) => TokenProof | undefined

export function createTokenProofReader(proofs: Proofs, publicOrigin: string): ReadTokenProof {
  return function readTokenProof({ raw }) {
    const arrival = arrivalOf(raw)
    const sent = arrival.fields.uncommon.proofs
    if (sent === undefined) return undefined
    const verdict = proofs.read(sent, provenRequest(arrival, publicOrigin, undefined))
    const proof = proofOrRefusal(arrival, proofs, verdict)
    if (proof instanceof GatehouseError) throw proof
    return {
      jkt: proof.jkt,
      use: async () => {
        const refusal = await useProof(arrival, proofs, proof)
        if (refusal) throw refusal
      },
    }
  }
}

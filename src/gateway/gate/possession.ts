import { isCredential } from '#identity/credentials.ts'
import type { AllowedDecision } from '#identity/decision.ts'
import type { Proofs, ProofVerdict, ProvenRequest, ReadProof } from '#identity/proofs.ts'
import { GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import { credentialsOf, type GatedArrival } from '../arrival/arrival.ts'
import type { ReadClientCertificate } from '../arrival/client-certificate-reader.ts'
import { recordReason } from '../arrival/outcome.ts'
import { parseRequestTarget } from '../routes/request-target.ts'

/**
 * Whether the sender of a request proves what its token asks for. To be called once for each request with such a token,
 * as a proof counts once.
 * @returns why it is refused; undefined = it is proven. Synchronous where this process is the only one
 */
export type CheckPossession = (
  arrival: GatedArrival,
  decision: AllowedDecision,
) => GatehouseError | undefined | Promise<GatehouseError | undefined>

interface PossessionOptions {
  readonly proofs: Proofs
  readonly readClientCertificate: ReadClientCertificate
  /** Origin of `publicUrl`. */
  readonly publicOrigin: string
}

export function createPossessionCheck(options: PossessionOptions): CheckPossession {
  const { proofs, readClientCertificate, publicOrigin } = options

  function checkCertificate(arrival: GatedArrival, expected: string): GatehouseError | undefined {
    const certificate = readClientCertificate(arrival)
    if (certificate?.thumbprint === expected) return undefined
    const reason =
      certificate === undefined
        ? 'the client has no certificate'
        : `the certificate of the client does not match cnf.x5t#S256: ${certificate.thumbprint}`
    recordReason(arrival.outcome, reason)
    return sharedError('certificate-required')
  }

  return function checkPossession(arrival, { confirmation }) {
    if (confirmation?.certificate !== undefined) {
      const refusal = checkCertificate(arrival, confirmation.certificate)
      if (refusal) return refusal
    }
    if (confirmation?.jkt === undefined) return undefined
    const credentials = credentialsOf(arrival)
    const token = isCredential(credentials) ? credentials.text : ''
    const read = proofs.read(
      arrival.fields.uncommon.proofs ?? [],
      provenRequest(arrival, publicOrigin, token),
    )
    const proof = proofOrRefusal(arrival, proofs, read)
    if (proof instanceof GatehouseError) return proof
    if (proof.jkt !== confirmation.jkt) return proofInvalid(arrival, 'its key does not match cnf.jkt')
    return useProof(arrival, proofs, proof)
  }
}

/** The request that a proof has to be about. @param token undefined = it is a request for a token */
export function provenRequest(
  arrival: GatedArrival,
  publicOrigin: string,
  token: string | undefined,
): ProvenRequest {
  return { method: arrival.head.method, isUrl: (htu) => isUrlOf(arrival, publicOrigin, htu), token }
}

/** What a verdict means for a request. */
export function proofOrRefusal(
  arrival: GatedArrival,
  proofs: Pick<Proofs, 'nonce'>,
  verdict: ProofVerdict,
): ReadProof | GatehouseError {
  switch (verdict.kind) {
    case 'valid':
      return verdict.proof
    case 'nonce':
      return new GatehouseError('proof-nonce-required', { nonce: proofs.nonce() })
    case 'invalid':
      return proofInvalid(arrival, verdict.reason)
    default:
      return verdict satisfies never
  }
}

/** @returns why it is refused; undefined = it was not used before */
export function useProof(
  arrival: GatedArrival,
  proofs: Pick<Proofs, 'use'>,
  proof: ReadProof,
): GatehouseError | undefined | Promise<GatehouseError | undefined> {
  const isFirst = proofs.use(proof)
  return isFirst instanceof Promise
    ? isFirst.then(refusalOfUse.bind(undefined, arrival))
    : refusalOfUse(arrival, isFirst)
}

function refusalOfUse(arrival: GatedArrival, isFirst: boolean): GatehouseError | undefined {
  return isFirst ? undefined : proofInvalid(arrival, 'it was used before')
}

function proofInvalid({ outcome }: GatedArrival, reason: string): GatehouseError {
  recordReason(outcome, `proof: ${reason}`)
  return sharedError('proof-invalid')
}

/**
 * Compares as RFC 9449 4.3 says: without query and fragment, normalized. A client may also name the origin of
 * `publicUrl` if its host is that of the request: a proxy that terminates TLS in front of the gateway need not say so.
 */
function isUrlOf({ client, outcome, head }: GatedArrival, publicOrigin: string, htu: string): boolean {
  const url = URL.parse(htu)
  if (url === null || url.username !== '' || url.password !== '') return false
  const target = outcome.destination?.target ?? parseRequestTarget(head.target)
  if (target === undefined || parseRequestTarget(url.pathname)?.path !== target.path) return false
  const origin = originOf(url)
  const came = URL.parse(`${client.protocol}://${client.host}`)
  if (!came) return false
  return origin === originOf(came) || (origin === publicOrigin && url.host === came.host)
}

/** A WebSocket is opened by an HTTP request, even if its client writes `wss:`. */
function originOf({ protocol, host }: URL): string {
  return `${protocol.replace(/^ws/, 'http')}//${host}`
}

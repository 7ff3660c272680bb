import { X509Certificate } from 'node:crypto'
import { type ClientCertificate, describeCertificate } from '#http/client-certificate.ts'
import type { AllowedDecision } from '#identity/decision.ts'
import type { Proofs, ProofVerdict, ProvenRequest, ReadProof } from '#identity/proofs.ts'
import { GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import type { Clock } from '#platform/time.ts'
import { credentialsOf, type GatedArrival } from '../arrival/arrival.ts'
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
    const token = 'text' in credentials ? credentials.text : ''
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

/** The request that a proof has to be about. @param token undefined = one is asked for */
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
  const settle = (isFirst: boolean) => (isFirst ? undefined : proofInvalid(arrival, 'it was used before'))
  const used = proofs.use(proof)
  return used instanceof Promise ? used.then(settle) : settle(used)
}

function proofInvalid({ outcome }: GatedArrival, reason: string): GatehouseError {
  recordReason(outcome, `proof: ${reason}`)
  return sharedError('proof-invalid')
}

/**
 * Compares as RFC 9449 4.3 says: without query and fragment, normalized. A client may also use `publicUrl` where its
 * host is the one that came: what terminates TLS in front need not say so.
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

/** A WebSocket is opened by a request of HTTP, whatever its client calls the scheme. */
function originOf({ protocol, host }: URL): string {
  return `${protocol.replace(/^ws/, 'http')}//${host}`
}

/** In which field trusted proxies say which certificate their client has; `none` = they do not. */
export const certificateFields = ['none', 'Client-Cert', 'X-Forwarded-Client-Cert'] as const

/** The certificate of a request's client; undefined = it has none, it has expired, or it cannot be read. */
export type ReadClientCertificate = (arrival: GatedArrival) => ClientCertificate | undefined

/**
 * The certificate of the connection; behind a trusted proxy, whose own that would be, what the proxy says in one field.
 * From others the field means nothing.
 */
export function createClientCertificateReader(
  field: (typeof certificateFields)[number],
  clock: Clock = Date.now,
): ReadClientCertificate {
  function read({ client, connection, fields }: GatedArrival): ClientCertificate | undefined {
    if (!client.isTrusted) return connection.clientCertificate
    const [value, second] = fields.uncommon.certificates?.get(field.toLowerCase()) ?? []
    // If there are several, one may be the client's own.
    if (value === undefined || second !== undefined) return undefined
    return field === 'Client-Cert' ? readByteSequence(value) : readForwarded(value)
  }

  return (arrival) => {
    const certificate = read(arrival)
    // It may have expired since the connection was made.
    return certificate && clock() < certificate.validUntil ? certificate : undefined
  }
}

/** DER as a byte sequence (RFC 9440 2.2, RFC 9651 3.3.5). */
const byteSequence = /^:([A-Za-z0-9+/]+={0,2}):$/

function readByteSequence(value: string): ClientCertificate | undefined {
  const encoded = byteSequence.exec(value)?.[1]
  return encoded === undefined ? undefined : parse(Buffer.from(encoded, 'base64'))
}

const sha256Hex = /^[0-9a-f]{64}$/i

/**
 * As Envoy writes it: `Hash=…;Cert="…"`, of which Cert is a PEM that is percent-encoded. Elements of several proxies
 * are refused: a proxy that appends its own leaves what its client has sent.
 */
function readForwarded(value: string): ClientCertificate | undefined {
  const pairs = readPairs(value)
  const pem = pairs?.get('cert')
  if (pem !== undefined) return parse(decode(pem))
  const digest = pairs?.get('hash') ?? ''
  if (!sha256Hex.test(digest)) return undefined
  return {
    thumbprint: Buffer.from(digest, 'hex').toString('base64url'),
    validUntil: Number.POSITIVE_INFINITY,
  }
}

/** Names in lower case, with their values; undefined where there are several elements, or a name comes twice. */
function readPairs(value: string): ReadonlyMap<string, string> | undefined {
  const found = new Map<string, string>()
  let isQuoted = false
  let start = 0
  for (let at = 0; at <= value.length; at++) {
    const character = value[at]
    if (isQuoted && character === '\\') at++
    else if (character === '"') isQuoted = !isQuoted
    else if (character === ',' && !isQuoted) return undefined
    else if (character === undefined || (character === ';' && !isQuoted)) {
      const [name = '', ...rest] = value.slice(start, at).split('=')
      const key = name.trim().toLowerCase()
      // Names and addresses may well come several times.
      if (found.has(key) && (key === 'cert' || key === 'hash')) return undefined
      found.set(key, rest.join('=').replaceAll('"', '').trim())
      start = at + 1
    }
  }
  return isQuoted ? undefined : found
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

function parse(certificate: string | Buffer): ClientCertificate | undefined {
  try {
    return describeCertificate(new X509Certificate(certificate))
  } catch {
    return undefined
  }
}

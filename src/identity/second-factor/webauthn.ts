import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { parseJsonObject } from '#platform/json.ts'
import type { Passkey } from '#store/portal-access.ts'

/** The relying party: browsers show and use its passkeys only on pages of this origin. */
export interface RelyingParty {
  /** The host name of the origin. */
  readonly id: string
  /** For people: some browsers show it. */
  readonly name: string
  readonly origin: string
}

/**
 * The relying party of a portal; undefined = browsers have no passkeys there, as it is reached by an address, or
 * without TLS (WebAuthn 5.1.2).
 */
export function relyingPartyOf(origin: string, name: string): RelyingParty | undefined {
  const { hostname: id, protocol } = new URL(origin)
  const isLocal = id === 'localhost' || id.endsWith('.localhost')
  if (/^[\d.]+$|^\[/.test(id) || (protocol !== 'https:' && !isLocal)) return undefined
  return { id, name, origin }
}

/** COSE: Ed25519, ES256, RS256. */
export const passkeyAlgorithms = [-8, -7, -257] as const

/** What a browser sent is not what it was asked for; the message is for the log. */
export class PasskeyRefused extends Error {
  /** Whether the audit log has it already. */
  readonly isRecorded: boolean

  constructor(message: string, isRecorded = false) {
    super(message)
    this.isRecorded = isRecorded
  }
}

/** What a browser answers: JSON of a PublicKeyCredential, as far as it was looked at. */
export interface PasskeyAnswer {
  readonly id: string
  /** The ID of the account; '' = not told. */
  readonly userHandle: string
  readonly challenge: string
  readonly json: object
}

/** Reasons may quote what the browser sent. */
const reasonLengthMax = 300
/** WebAuthn 5.4.3: at most 64 bytes. */
const userHandleLengthMax = 64
/** Longer than any credential ID, which has 1,023 bytes at most. */
const idPattern = /^[\w-]{1,1400}$/

/** @throws PasskeyRefused if it is not the JSON of a credential */
export function parsePasskeyAnswer(text: string): PasskeyAnswer {
  const json = parseJsonObject(text)
  const { id, response } = (json ?? {}) as Partial<AuthenticationResponseJSON>
  const { clientDataJSON, userHandle = '' } = response ?? {}
  const { challenge, crossOrigin } = parseJsonObject(textOf(clientDataJSON)) ?? {}
  if (!json || typeof id !== 'string' || !idPattern.test(id) || typeof challenge !== 'string')
    throw new PasskeyRefused('it is not the JSON of a credential')
  if (textOf(userHandle).length > userHandleLengthMax) throw new PasskeyRefused('its user handle is too long')
  if (crossOrigin === true) throw new PasskeyRefused('it was made in a frame of another site')
  return { id, userHandle: textOf(userHandle), challenge, json }
}

function textOf(encoded: unknown): string {
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64url').toString() : ''
}

/**
 * Checks a new passkey.
 * @throws PasskeyRefused
 */
export async function verifyNewPasskey(
  { json, challenge }: PasskeyAnswer,
  { id: rpId, origin }: RelyingParty,
): Promise<Pick<Passkey, 'id' | 'publicKey' | 'counter' | 'transports'>> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers')
  try {
    // The cast is sound: whatever else it is, the checks throw.
    const response = json as RegistrationResponseJSON
    const statement = decodeAttestationObject(isoBase64URL.toBuffer(response.response.attestationObject))
    // The maker was not asked for, and verifying it could mean fetching what its certificate names.
    if (statement.get('attStmt').get('x5c') !== undefined || !selfMade.has(statement.get('fmt')))
      throw new Error('it names its maker')
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: false,
      supportedAlgorithmIDs: [...passkeyAlgorithms],
    })
    if (!verified || registrationInfo.credential.id !== response.id) throw new Error('not verified')
    const { id, publicKey, counter } = registrationInfo.credential
    const transports = transportsOf(response.response.transports)
    return { id, publicKey: Buffer.from(publicKey).toString('base64url'), counter, transports }
  } catch (error) {
    throw new PasskeyRefused(String(error).slice(0, reasonLengthMax))
  }
}

/** Attestation formats without a certificate of the authenticator's maker. */
const selfMade: ReadonlySet<string> = new Set(['none', 'packed'])

/**
 * Checks that a passkey has signed.
 * @returns its counter, which the store compares with the last
 * @throws PasskeyRefused
 */
export async function verifyPasskey(
  { json, challenge }: PasskeyAnswer,
  { id, publicKey }: Passkey,
  { id: rpId, origin, mustVerifyUser }: RelyingParty & { readonly mustVerifyUser: boolean },
): Promise<number> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      // The cast is sound: whatever else it is, the checks throw.
      response: json as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      credential: { id, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')), counter: 0 },
      requireUserVerification: mustVerifyUser,
    })
    if (!verified) throw new Error('the signature is wrong')
    return authenticationInfo.newCounter
  } catch (error) {
    throw new PasskeyRefused(String(error).slice(0, reasonLengthMax))
  }
}

const knownTransports = ['usb', 'nfc', 'ble', 'smart-card', 'hybrid', 'internal', 'cable'] as const

function transportsOf(given: unknown): readonly string[] {
  return Array.isArray(given) ? knownTransports.filter((name) => given.includes(name)) : []
}

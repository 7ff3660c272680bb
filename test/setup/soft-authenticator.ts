import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** What is said wrongly, or was not done. */
export interface Deviations {
  readonly origin?: string
  readonly rpId?: string
  readonly type?: string
  readonly crossOrigin?: boolean
  readonly isUserVerified?: boolean
  readonly isUserPresent?: boolean
  readonly counter?: number
  /** Of another authenticator. */
  readonly key?: KeyObject
  readonly userHandle?: string | undefined
  readonly id?: string
  /** The attestation statement. Default: none. */
  readonly attestation?: { readonly fmt: string; readonly attStmt: Cbor }
}

interface Options {
  readonly challenge: string
  readonly rp?: { readonly id: string }
  readonly rpId?: string
  readonly user?: { readonly id: string }
}

/** An authenticator with one passkey, and a browser that says what it is told to: of node:crypto. */
export function createSoftAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(16)
  let userHandle = ''

  function clientData(type: string, challenge: string, over: Deviations): Buffer {
    const { crossOrigin = false } = over
    const data = { type: over.type ?? type, challenge, origin: over.origin ?? origin, crossOrigin }
    return Buffer.from(JSON.stringify(data))
  }

  function authenticatorData(rpId: string, attested: Buffer | undefined, over: Deviations): Buffer {
    const { isUserPresent = true, isUserVerified = true, counter = 0 } = over
    const flags = Number(isUserPresent) + 4 * Number(isUserVerified) + (attested ? 0x40 : 0)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    const parts = [sha256(over.rpId ?? rpId), Buffer.from([flags]), count, attested ?? Buffer.alloc(0)]
    return Buffer.concat(parts)
  }

  function attestedKey(): Buffer {
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    const cose = new Map<number, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ])
    const length = Buffer.from([id.length >> 8, id.length & 0xff])
    return Buffer.concat([Buffer.alloc(16), length, id, cborOf(cose)])
  }

  return {
    id: id.toString('base64url'),
    /** The JSON of a new passkey. */
    create: (options: object, over: Deviations = {}): string => {
      // The cast is sound: creationOptions makes them.
      const { challenge, rp, user } = options as Options
      userHandle = user?.id ?? ''
      const { fmt, attStmt } = over.attestation ?? { fmt: 'none', attStmt: new Map() }
      const attestationObject = cborOf(
        new Map<string, Cbor>([
          ['fmt', fmt],
          ['attStmt', attStmt],
          ['authData', authenticatorData(rp?.id ?? '', attestedKey(), over)],
        ]),
      )
      return credentialJson(over.id ?? id.toString('base64url'), {
        clientDataJSON: encode(clientData('webauthn.create', challenge, over)),
        attestationObject: encode(attestationObject),
        transports: ['internal', 'made up'],
      })
    },
    /** The JSON of a signed challenge. */
    get: (options: object, over: Deviations = {}): string => {
      const { challenge, rpId = '' } = options as Options
      const data = clientData('webauthn.get', challenge, over)
      const authData = authenticatorData(rpId, undefined, over)
      const signed = Buffer.concat([authData, createHash('sha256').update(data).digest()])
      return credentialJson(over.id ?? id.toString('base64url'), {
        clientDataJSON: encode(data),
        authenticatorData: encode(authData),
        signature: encode(sign('sha256', signed, over.key ?? privateKey)),
        userHandle: 'userHandle' in over ? over.userHandle : userHandle,
      })
    },
  }
}

function credentialJson(id: string, response: object): string {
  return JSON.stringify({ id, rawId: id, type: 'public-key', response, clientExtensionResults: {} })
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64url')
}

/** What of CBOR (RFC 8949) authenticators use. */
export type Cbor = number | string | Buffer | readonly Cbor[] | ReadonlyMap<string | number, Cbor>

function cborOf(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? headOf(1, -1 - value) : headOf(0, value)
  if (typeof value === 'string')
    return Buffer.concat([headOf(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([headOf(2, value.length), value])
  if (value instanceof Map) {
    const entries = [...value] as readonly (readonly [string | number, Cbor])[]
    return Buffer.concat([headOf(5, entries.length), ...entries.flat().map((each) => cborOf(each))])
  }
  const items = value as readonly Cbor[]
  return Buffer.concat([headOf(4, items.length), ...items.map(cborOf)])
}

function headOf(major: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(major << 5) | count])
  if (count < 256) return Buffer.from([(major << 5) | 24, count])
  return Buffer.from([(major << 5) | 25, count >> 8, count & 0xff])
}

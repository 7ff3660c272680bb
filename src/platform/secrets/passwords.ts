import { argon2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { GatehouseError, invalidField } from '../errors/gatehouse-error.ts'
import { isCommonPassword, isMostlyPersonalData, type PasswordOwner } from './common-password.ts'
import { isSameBytes, type KeySource, type Keys, keyIdOf, keysOf } from './sealing.ts'
import { createWorkQueue, type WorkOwner } from './work-queue.ts'

/** The minimum number of characters of a password, and the maximum number of bytes in UTF-8. */
export const passwordLength = { charactersMin: 12, bytesMax: 1_024 } as const

/** Hashes and checks passwords: Argon2id (RFC 9106), keyed, in PHC form. */
export interface Passwords {
  /**
   * @param owner whose share of the queue this uses (see createWorkQueue)
   * @throws GatehouseError `sign-in-busy`
   */
  hash(password: string, owner: WorkOwner): Promise<string>
  /**
   * Whether this is the password that was hashed. Takes the same time if no password is set.
   * @throws GatehouseError `sign-in-busy`
   */
  verify(password: string, stored: string | undefined, owner: WorkOwner): Promise<boolean>
  /** Whether a password was hashed with outdated parameters, or while another key was the current one. */
  needsRehash(stored: string): boolean
}

interface PasswordsOptions {
  /** Without the pepper, passwords from a stolen database cannot be guessed. The first key hashes, all verify. */
  readonly pepper: KeySource
  /** Default: OWASP's recommendation. */
  readonly parameters?: Argon2Parameters
}

interface Argon2Parameters {
  readonly memoryKiB: number
  readonly passes: number
  readonly parallelism: number
}

const owaspParameters: Argon2Parameters = { memoryKiB: 19_456, passes: 2, parallelism: 1 }
const bytes = { salt: 16, tag: 32 } as const
/** The largest parameters accepted from a stored hash, which another version of the program may have created. */
const memoryKiBMax = 262_144
const passesMax = 16
const phcPattern =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})(?:,keyid=([A-Za-z0-9+/]{8}))?\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/

interface Derivation {
  readonly parameters: Argon2Parameters
  readonly salt: Uint8Array
  readonly secret: Uint8Array
}

/** How many run at once, of Node's four threads for such work; how many may be queued, in total and per address. */
const queueLimits = { concurrency: 2, queueMax: 64, queueMaxPerClient: 8, queueTimeoutMs: 5_000 } as const

const runArgon2 = promisify(argon2)

export function createPasswords({ pepper, parameters = owaspParameters }: PasswordsOptions): Passwords {
  const workQueue = createWorkQueue(queueLimits)
  /** Makes verification take the same time if no password is set. */
  const dummyHash = format(parameters, randomBytes(bytes.salt), randomBytes(bytes.tag))

  function derive(password: string, { parameters, salt, secret }: Derivation) {
    const { memoryKiB, passes, parallelism } = parameters
    return runArgon2('argon2id', {
      // One encoding for texts that look the same, whatever the keyboard (NIST SP 800-63B 3.1.1.2).
      message: password.toWellFormed().normalize('NFKC'),
      nonce: salt,
      memory: memoryKiB,
      passes,
      parallelism,
      tagLength: bytes.tag,
      secret,
    })
  }

  async function verify(password: string, stored: string | undefined, owner: WorkOwner): Promise<boolean> {
    const parsed = parse(stored ?? dummyHash) ?? parse(dummyHash)
    if (!parsed) throw new GatehouseError('internal')
    const isTooLong = Buffer.byteLength(password) > passwordLength.bytesMax
    let isRight = false
    await workQueue.run(owner, async () => {
      // With every key, whichever the hash names, so that the time reveals nothing about the account.
      for (const secret of keysOf(pepper)) {
        const tag = await derive(isTooLong ? '' : password, { ...parsed, secret })
        isRight = isSameBytes(parsed.tag, tag) || isRight
      }
    })
    return isRight && !isTooLong && stored !== undefined
  }

  return {
    hash: async (password, owner) => {
      const salt = randomBytes(bytes.salt)
      const [secret, ...others] = keysOf(pepper)
      const tag = await workQueue.run(owner, () => derive(password, { parameters, salt, secret }))
      // Named only while there are several keys, so that a version that knows of only one can read the hash too.
      return format(parameters, salt, tag, others.length === 0 ? undefined : keyIdOf(secret))
    },
    verify,
    needsRehash: (stored) =>
      !stored.startsWith(prefixOf(parameters)) || !isOfCurrentKey(stored, keysOf(pepper)),
  }
}

/**
 * Whether a hash was made with the current pepper. While several are accepted, a hash without a name counts as older,
 * which it may be.
 */
export function isOfCurrentKey(stored: string, [current, ...others]: Keys): boolean {
  const keyId = phcPattern.exec(stored)?.[4]
  return keyId === undefined ? others.length === 0 : keyId === keyIdOf(current)
}

/**
 * @param owner undefined = not known yet
 * @throws GatehouseError `request-invalid` (field `password`) for a weak password, in general or for this owner
 */
export function assertGoodPassword(password: string, owner: PasswordOwner | undefined): void {
  const message = passwordProblem(password, owner)
  if (message !== undefined) rejectPassword(message)
}

/** @throws GatehouseError `request-invalid` (field `password`), always */
export function rejectPassword(message: string): never {
  throw invalidField('password', message)
}

function passwordProblem(password: string, owner: PasswordOwner | undefined): string | undefined {
  const { charactersMin, bytesMax } = passwordLength
  if (Buffer.byteLength(password) > bytesMax) return `must have at most ${bytesMax} bytes in UTF-8`
  if ([...password.normalize('NFKC')].length < charactersMin) {
    return `must have at least ${charactersMin} characters`
  }
  if (isCommonPassword(password)) {
    return 'is too common. Avoid common words with digits, keyboard rows and repetitions.'
  }
  return owner && isMostlyPersonalData(password, owner)
    ? 'must not consist mostly of your e-mail or name'
    : undefined
}

function prefixOf({ memoryKiB, passes, parallelism }: Argon2Parameters): string {
  return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${parallelism}`
}

function format(parameters: Argon2Parameters, salt: Uint8Array, tag: Uint8Array, keyId?: string): string {
  const [saltText, tagText] = [salt, tag].map((part) =>
    Buffer.from(part).toString('base64').replaceAll('=', ''),
  )
  const key = keyId === undefined ? '' : `,keyid=${keyId}`
  return `${prefixOf(parameters)}${key}$${saltText}$${tagText}`
}

function parse(stored: string) {
  const [, memory, passes, parallelism, , salt, tag] = phcPattern.exec(stored) ?? []
  const parameters = {
    memoryKiB: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
  }
  if (salt === undefined || tag === undefined) return undefined
  if (parameters.memoryKiB > memoryKiBMax || parameters.passes > passesMax) return undefined
  return { parameters, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') }
}

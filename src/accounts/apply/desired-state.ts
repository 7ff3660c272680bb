import { type FieldError, GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { isRecord } from '#platform/json.ts'
import { flag, objectSchema, text, textOrNull, type Value } from '#platform/json-schema.ts'
import { parseTime, timeRule } from '#platform/time.ts'
import { emailKey } from '#store/accounts.ts'
import { type AccountInput, findInputErrors, textFields } from '../account-input.ts'
import { parseCertificateInput } from '../keys/certificate-input.ts'
import {
  digestRule,
  findKeyErrors,
  keyLimitSchemas,
  keyName,
  keyQuotaOrNull,
  parseDigest,
} from '../keys/input.ts'

// The desired state of some accounts. What a file leaves out stays as it is; in a new account or key it is the default.

export const defaultStateName = 'default'

/** Maximum number of accounts in one file: through the admin API, and on the command line. */
export const applyMax = { api: 1_000, command: 20_000 } as const

/** A further secret key, identified by name. */
export const desiredKey = objectSchema(
  { name: keyName },
  {
    digest: {
      ...text,
      description:
        'SHA-256 of a key that was made elsewhere, in hexadecimal or base64; a different one replaces the key.',
    },
    certificate: {
      ...text,
      description: 'PEM of a certificate to use as the key, instead of digest.',
    },
    ...keyLimitSchemas,
    quota: keyQuotaOrNull,
    expiresAt: { ...textOrNull, description: 'RFC 3339; null = it does not expire.' },
  },
)

/** An account, identified by its e-mail. */
export const desiredAccount = objectSchema(
  { email: { ...text, description: 'Identifies the account.' } },
  {
    firstName: text,
    lastName: text,
    role: text,
    isVerified: flag,
    disabled: flag,
    plan: { ...textOrNull, description: 'Name of a plan of the config; null = none.' },
    keys: {
      type: 'array',
      items: desiredKey,
      description:
        'Further keys. A key without digest and certificate is generated if the account has none of that name. Absent = further keys are not managed.',
    },
  },
)

/** The body of the admin API, and the file of `gatehouse apply`. */
export const desiredState = objectSchema(
  { accounts: { type: 'array', items: desiredAccount, description: `At most ${applyMax.api}.` } },
  {
    name: {
      ...text,
      description: `prune disables only accounts that a state of this name has listed before; default ${defaultStateName}.`,
    },
  },
)

export type DesiredState = Value<typeof desiredState>
export type DesiredAccount = Value<typeof desiredAccount>
export type DesiredKey = Value<typeof desiredKey>

/** Maximum number of errors that are reported. */
const errorsMax = 100

const stateNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

type Values = Readonly<Record<string, unknown>>

/**
 * Finds every error that does not depend on the store. Values of a wrong type are skipped, as the schema reports them.
 * Fields are named by their path, such as `accounts.3.keys.0.digest`.
 */
export function findStateErrors(
  state: unknown,
  { accountsMax, planNames }: { readonly accountsMax: number; readonly planNames: readonly string[] },
): readonly FieldError[] {
  if (!isRecord(state)) return []
  const accounts = listIn(state, 'accounts')
  if (accounts.length > accountsMax)
    return [{ field: 'accounts', message: `must be at most ${accountsMax} accounts` }]
  const errors: FieldError[] = []
  if (typeof state.name === 'string' && !stateNamePattern.test(state.name))
    errors.push({
      field: 'name',
      message: 'must be 1 to 64 letters, digits, ., _ or -, starting with a letter or digit',
    })
  const emails = createRepetitions()
  const digests = createRepetitions()
  for (const [index, account] of accounts.entries()) {
    if (!isRecord(account)) continue
    const at = `accounts.${index}`
    const { email } = account
    errors.push(...within(at, findInputErrors(textsOf(account), planNames)))
    if (typeof email === 'string') errors.push(...emails.add(emailKey(email), `${at}.email`))
    errors.push(...keyListErrors(listIn(account, 'keys'), at, digests))
  }
  return errors
}

/** @throws GatehouseError `request-invalid` if there are any */
export function assertNoErrors(errors: readonly FieldError[]): void {
  if (errors.length === 0) return
  const more = errors.length - errorsMax
  const named = errors.slice(0, errorsMax)
  throw new GatehouseError('request-invalid', {
    errors: more > 0 ? [...named, { field: 'accounts', message: `and ${more} more errors` }] : named,
  })
}

type Repetitions = ReturnType<typeof createRepetitions>

/** Finds duplicate values. */
function createRepetitions() {
  const places = new Map<string, string>()
  return {
    add: (value: string, field: string): readonly FieldError[] => {
      const place = places.get(value)
      if (place !== undefined) return [{ field, message: `repeats ${place.replaceAll(/\.(\d+)/g, '[$1]')}` }]
      places.set(value, field)
      return []
    },
  }
}

function keyListErrors(keys: readonly unknown[], at: string, digests: Repetitions): readonly FieldError[] {
  const names = createRepetitions()
  return keys.flatMap((key, index) => {
    if (!isRecord(key)) return []
    const here = `${at}.keys.${index}`
    const named = typeof key.name === 'string' ? names.add(key.name, `${here}.name`) : []
    const { digest, errors } = readCredential(key)
    const repeated = digest
      ? digests.add(
          Buffer.from(digest).toString('hex'),
          `${here}.${'digest' in key ? 'digest' : 'certificate'}`,
        )
      : []
    return [...within(here, [...limitErrors(key), ...errors]), ...named, ...repeated]
  })
}

function limitErrors(key: Values): readonly FieldError[] {
  const { name, expiresAt } = key
  const input = {
    name: typeof name === 'string' ? name : 'x',
    scopes: textListIn(key, 'scopes'),
    addresses: textListIn(key, 'addresses'),
    // Whether it may be in the past depends on the stored key: see plan-account.ts.
    expiresAt: undefined,
  }
  const errors = findKeyErrors(input, 0)
  return typeof expiresAt === 'string' && parseTime(expiresAt) === undefined
    ? [...errors, { field: 'expiresAt', message: timeRule }]
    : errors
}

/** The digest of a key that was made elsewhere; neither digest nor errors = the key is to be generated. */
function readCredential({ digest, certificate }: Values): {
  readonly digest?: Uint8Array
  readonly errors: readonly FieldError[]
} {
  if (typeof digest === 'string') {
    if (certificate !== undefined)
      return { errors: [{ field: 'certificate', message: 'must not come with digest' }] }
    const bytes = parseDigest(digest)
    return bytes ? { digest: bytes, errors: [] } : { errors: [{ field: 'digest', message: digestRule }] }
  }
  if (typeof certificate !== 'string') return { errors: [] }
  try {
    // Whether it has expired matters only to a new key.
    return { digest: parseCertificateInput(certificate, 0).digest, errors: [] }
  } catch (error) {
    if (error instanceof GatehouseError && error.errors) return { errors: error.errors }
    throw error
  }
}

function textsOf(account: Values): Partial<AccountInput> {
  return Object.fromEntries(
    textFields.flatMap((name) => {
      const value = account[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}

/** Turns the paths of errors within a part of the file into paths within the file. */
export function within(place: string, errors: readonly FieldError[]): readonly FieldError[] {
  return errors.map(({ field, message }) => ({ field: `${place}.${field}`, message }))
}

function listIn(values: Values, name: string): readonly unknown[] {
  const value = values[name]
  return Array.isArray(value) ? value : []
}

function textListIn(values: Values, name: string): readonly string[] {
  return listIn(values, name).filter((item) => typeof item === 'string')
}

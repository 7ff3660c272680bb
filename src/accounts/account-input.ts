import { type FieldError, GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { keysOf } from '#platform/json.ts'
import { type Account, type AccountReader, adminRole, emailKey } from '#store/accounts.ts'
import type { Actor } from '#store/audit-entry.ts'

/** What an account is created from. */
export interface AccountInput
  extends Pick<Account, 'email' | 'firstName' | 'lastName' | 'role' | 'isVerified'> {
  /** Absent = none. */
  readonly plan?: string | undefined
  /** Absent = false. */
  readonly isDisabled?: boolean | undefined
  /** See Account. */
  readonly managedBy?: string | undefined
}

/** The word for "no plan" in commands, queries and the audit log; no plan can have this name. */
export const noPlan = 'none'

export const defaultRole = 'User'

/** What an account is created with where nothing else is given. */
export const accountDefaults = { firstName: '', lastName: '', role: defaultRole, isVerified: false } as const

/** Lengths are in characters. */
export const emailLengthMax = 254
/** For the first name and the last name each. */
export const nameLengthMax = 100
export const roleLengthMax = 64
// Neither may hold control or format characters: an invisible one, or one that reverses the direction of a text, makes
// a name look like another in lists and logs. The two joiners are parts of letters in Persian and Indic names.
const emailPattern = /^[^\s@"(),:;<>[\]\\\p{Cc}\p{Cf}]+@[^\s@"(),:;<>[\]\\\p{Cc}\p{Cf}]+$/u
const namePattern = /^(?:[\u200c\u200d]|[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}])*$/u
const rolePattern = /^[A-Za-z][A-Za-z0-9_.-]*$/

const name = {
  lengthMax: nameLengthMax,
  pattern: namePattern,
  message: `must be at most ${nameLengthMax} characters, without invalid, invisible or control characters`,
}
/** The texts of an account, each named as in the admin API. */
const texts = {
  email: {
    lengthMax: emailLengthMax,
    pattern: emailPattern,
    message: `must be an e-mail address of at most ${emailLengthMax} characters`,
  },
  firstName: name,
  lastName: name,
  role: {
    lengthMax: roleLengthMax,
    pattern: rolePattern,
    message: `must be 1 to ${roleLengthMax} letters, digits, _ . or -, starting with a letter`,
  },
} as const

/** The members of an account that are texts. */
export const textFields = ['email', 'firstName', 'lastName', 'role', 'plan'] as const

/** The errors in the given fields, each field named as in the admin API. */
export function findFieldErrors(input: Partial<AccountInput>): FieldError[] {
  return keysOf(texts).flatMap((field) => {
    const text = input[field]
    if (text === undefined) return []
    const isValid = isText(text, texts[field]) && (field !== 'email' || isComparable(text))
    return isValid ? [] : [{ field, message: texts[field].message }]
  })
}

/** A sigma at the end of a word, in either form. */
const finalSigma = /(?<=[\p{L}\p{M}])[σς](?!\p{L})/gu

/**
 * Whether all spellings of an e-mail that differ only in case have the same key, by which e-mails are compared. If not,
 * another spelling could become another account. Some letters are one character in lower case, but two in upper case
 * (J with a caron, U+01F0): these are refused. The Greek sigma has two lower cases: only ς at the end of a word and σ
 * elsewhere are accepted.
 */
function isComparable(email: string): boolean {
  const key = emailKey(email)
  return key === emailKey(key.replaceAll('ς', 'σ').replaceAll(finalSigma, 'ς'))
}

/** Refuses lone surrogates, which JSON can contain: they are not characters, and a store would replace them. */
function isText(text: string, { lengthMax, pattern }: (typeof texts)[keyof typeof texts]): boolean {
  return text.length <= lengthMax && text.isWellFormed() && pattern.test(text)
}

/**
 * @param planNames the plans of the config; absent = the input has no plan
 * @throws GatehouseError `request-invalid` with every field that is wrong
 */
export function assertValid(input: Partial<AccountInput>, planNames: readonly string[] = []): void {
  const errors = findInputErrors(input, planNames)
  if (errors.length > 0) throw new GatehouseError('request-invalid', { errors })
}

/** The errors in the given fields, the plan included. */
export function findInputErrors(input: Partial<AccountInput>, planNames: readonly string[]): FieldError[] {
  const errors = findFieldErrors(input)
  const message = findPlanError(input.plan, planNames)
  return message === undefined ? errors : [...errors, { field: 'plan', message }]
}

/** Why an account cannot be given a plan; undefined = it can, or there is none. */
export function findPlanError(plan: string | undefined, known: readonly string[]): string | undefined {
  if (plan === undefined || known.includes(plan)) return undefined
  const which = known.length === 0 ? 'the config has no plans' : `must be one of ${known.join(', ')}`
  return `unknown plan: ${which}`
}

/** First and last name; '' where there is neither. */
export function fullName({ firstName, lastName }: Pick<AccountInput, 'firstName' | 'lastName'>): string {
  return `${firstName} ${lastName}`.trim()
}

/** The known roles: the two of the gateway, and those that routes name. In alphabetical order. */
export function knownRoles(
  routes: readonly { readonly roles?: readonly string[] | undefined }[],
): readonly string[] {
  return [...new Set([adminRole, defaultRole, ...routes.flatMap(({ roles }) => roles ?? [])])].toSorted()
}

/**
 * The known role that differs from this one only in case: routes compare roles exactly, so an account with the wrong
 * case is rejected without any error in the config. undefined where the role itself is known, or none is similar.
 */
export function similarRole(role: string, known: readonly string[]): string | undefined {
  if (known.includes(role)) return undefined
  return known.find((other) => other.toLowerCase() === role.toLowerCase())
}

/** All that keys and sessions need of the accounts. */
export interface AccountLookup {
  /** @throws GatehouseError `account-not-found` */
  get(idOrEmail: string): Promise<Account>
}

/** The account was deleted after it was looked up, or never existed. */
export function accountNotFound(): never {
  throw new GatehouseError('account-not-found')
}

/** Keeps people from locking themselves out. That at least one Admin is left is up to the store. */
export function assertNotOwn(by: Actor, id: string): void {
  if (by.kind === 'account' && by.id === id) throw new GatehouseError('own-account')
}

export function findByIdOrEmail(store: AccountReader, idOrEmail: string): Promise<Account | undefined> {
  return idOrEmail.includes('@') ? store.findAccountByEmail(idOrEmail) : store.findAccount(idOrEmail)
}

import { type FieldError, GatehouseError } from '../errors.ts'

/** What an account is made from. */
export interface AccountInput {
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly role: string
  readonly isVerified: boolean
}

export const defaultRole = 'User'

/** The role that may do everything to every account. */
export const adminRole = 'Admin'

/** In characters, as everything here. */
export const emailLengthMax = 254
/** Of each name. */
export const nameLengthMax = 100
export const roleLengthMax = 64
const emailPattern =
  /^[^\s@"(),:;<>[\]\\\u0000-\u001f\u007f-\u009f]+@[^\s@"(),:;<>[\]\\\u0000-\u001f\u007f-\u009f]+$/
const rolePattern = /^[A-Za-z][A-Za-z0-9_.-]*$/
/** Without control characters. */
const namePattern = /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$/

/** The errors in the given fields, each field named as in the admin API. */
export function findFieldErrors(input: Partial<AccountInput>): FieldError[] {
  const errors: FieldError[] = []
  const { email, firstName, lastName, role } = input
  if (email !== undefined && !isText(email, emailLengthMax, emailPattern)) {
    errors.push({
      field: 'email',
      message: `must be an e-mail address of at most ${emailLengthMax} characters`,
    })
  }
  for (const [field, name] of Object.entries({ firstName, lastName })) {
    if (name !== undefined && !isText(name, nameLengthMax, namePattern)) {
      errors.push({
        field,
        message: `must be at most ${nameLengthMax} characters without control or broken characters`,
      })
    }
  }
  if (role !== undefined && !isText(role, roleLengthMax, rolePattern)) {
    const message = `must be 1 to ${roleLengthMax} letters, digits, _ . or -, and begin with a letter`
    errors.push({ field: 'role', message })
  }
  return errors
}

/** A lone surrogate, which JSON can hold, is not a character: a store would replace it. */
function isText(text: string, lengthMax: number, pattern: RegExp): boolean {
  return text.length <= lengthMax && text.isWellFormed() && pattern.test(text)
}

/** @throws GatehouseError `request-invalid` with every field that is wrong */
export function assertValid(input: Partial<AccountInput>): void {
  const errors = findFieldErrors(input)
  if (errors.length > 0) throw new GatehouseError('request-invalid', { errors })
}

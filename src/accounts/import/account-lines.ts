import { type AccountInput, accountDefaults, findFieldErrors, textFields } from '../account-input.ts'
import { createRecordReader, type RecordLine, type RecordReader, textsIn } from './record-reader.ts'

/** An account of an import file, or what is wrong with its line. */
export type AccountLine = RecordLine<AccountInput>

const fields: readonly string[] = [...textFields, 'isVerified']

/** Reads accounts, whose fields are named as in the admin API. */
export function createAccountLineReader(): RecordReader<AccountInput> {
  return createRecordReader({ parse: parseAccountFields, findHeaderError })
}

/** @returns undefined where the header is right */
function findHeaderError(names: readonly string[]): string | undefined {
  if (!names.includes('email'))
    return `the header must name email, and may name ${fields.slice(1).join(', ')}`
  if (names.includes('')) return 'a column of the header has no name'
  const duplicate = names.find((name, column) => names.indexOf(name) !== column)
  return duplicate === undefined ? undefined : `the header names ${duplicate} twice`
}

/** The account that a row describes, or all errors of the row. */
function parseAccountFields(values: Readonly<Record<string, unknown>>): AccountInput | string {
  const errors: string[] = []
  const { plan, ...others } = textsIn(values, { names: textFields, fields, errors })
  const isVerified = readBoolean(values.isVerified)
  if (isVerified === undefined) errors.push('isVerified: must be true or false')
  const input = { ...others, role: others.role || accountDefaults.role, ...(plan !== '' && { plan }) }
  for (const { field, message } of findFieldErrors(input)) errors.push(`${field}: ${message}`)
  return errors.length > 0 || isVerified === undefined ? errors.join('; ') : { ...input, isVerified }
}

function readBoolean(value: unknown): boolean | undefined {
  if (value === undefined || value === '' || value === false || value === 'false') return false
  return value === true || value === 'true' ? true : undefined
}

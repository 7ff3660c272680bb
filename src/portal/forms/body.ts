import type { IncomingHttpHeaders } from 'node:http'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { FormFields, PortalRequest } from '../portal-request.ts'

/** The fields of a form; the first value of a repeated field counts. */
export type Form = (name: string) => string

/** The bytes of an uploaded file; empty if there is none. */
export type Files = (name: string) => Buffer

const formType = /^application\/x-www-form-urlencoded(?:[ \t]*;|$)/i
const uploadType = /^multipart\/form-data[ \t]*;/i

/**
 * Parses the form in a body. Files remain bytes, as only the page that reads them knows their encoding.
 * @throws GatehouseError `media-type-unsupported`, `request-invalid`
 */
export async function parseForm(bytes: Buffer, headers: IncomingHttpHeaders): Promise<FormFields> {
  const { 'content-type': type = '', 'content-encoding': coding } = headers
  if (bytes.length === 0) return new Map()
  if (coding !== undefined || !(formType.test(type) || uploadType.test(type))) {
    throw new GatehouseError('media-type-unsupported', {
      detail: 'Send application/x-www-form-urlencoded or multipart/form-data.',
    })
  }
  const malformed = () => new GatehouseError('request-invalid', { detail: 'The form body is malformed.' })
  // An ampersand stands between two fields, a boundary before and after each.
  const hasTooMany = formType.test(type)
    ? occursMoreThan(bytes, '&', fieldsMax - 1)
    : occursMoreThan(bytes, '\n--', fieldsMax)
  if (hasTooMany) throw malformed()
  return readFields(bytes, type).catch(() => {
    throw malformed()
  })
}

/** More than any form has: each field takes far more memory than its bytes. */
const fieldsMax = 100

function occursMoreThan(bytes: Buffer, text: string, count: number): boolean {
  let at = -1
  for (let found = 0; found <= count; found++) {
    at = bytes.indexOf(text, at + 1)
    if (at === -1) return false
  }
  return true
}

async function readFields(bytes: Buffer, type: string): Promise<FormFields> {
  const fields = new Map<string, string | Buffer>()
  const form = await new Response(new Uint8Array(bytes), { headers: { 'Content-Type': type } }).formData()
  for (const [name, value] of form) {
    if (!fields.has(name))
      fields.set(name, typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer()))
  }
  return fields
}

/** The form fields of a request; a missing field, or a file, reads as empty. */
export function formOf(request: PortalRequest): Form {
  return (name) => {
    const value = request.field(name)
    return typeof value === 'string' ? value : ''
  }
}

/** The files of a request; a text field is returned as a file with that text. */
export function filesOf(request: PortalRequest): Files {
  return (name) => Buffer.from(request.field(name) ?? '')
}

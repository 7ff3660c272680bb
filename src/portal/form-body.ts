import type { FastifyInstance, FastifyRequest } from 'fastify'
import { jsonBytesMax } from '../endpoints/json-body.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'

/** Largest file of accounts to import. */
export const importBytesMax = 10_485_760

/** The fields of a form; of a repeated field the first value counts. */
export type Form = (name: string) => string

/** The bytes of an uploaded file; empty where there is none. */
export type Files = (name: string) => Buffer

type Fields = ReadonlyMap<string, string | Buffer>

const formType = /^application\/x-www-form-urlencoded(?:[ \t]*;|$)/i
const uploadType = /^multipart\/form-data[ \t]*;/i

/** Accepts only forms as bodies. Files stay bytes: only the page that reads them knows their encoding. */
export function acceptFormsOnly(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: jsonBytesMax }, (request, body, done) => {
    const bytes = Buffer.from(body)
    const { 'content-type': type = '', 'content-encoding': coding } = request.headers
    if (bytes.length === 0) return done(null, new Map())
    if (coding !== undefined || !(formType.test(type) || uploadType.test(type))) {
      return done(
        new GatehouseError('media-type-unsupported', {
          detail: 'Send application/x-www-form-urlencoded or multipart/form-data.',
        }),
      )
    }
    parseForm(bytes, type).then(
      (form) => done(null, form),
      () => done(new GatehouseError('request-invalid', { detail: 'The form body is malformed.' })),
    )
  })
}

async function parseForm(bytes: Buffer, type: string): Promise<Fields> {
  const fields = new Map<string, string | Buffer>()
  const form = await new Response(new Uint8Array(bytes), { headers: { 'Content-Type': type } }).formData()
  for (const [name, value] of form) {
    if (!fields.has(name))
      fields.set(name, typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer()))
  }
  return fields
}

/** The form fields of a request; a missing field, or a file, reads as empty. */
export function formOf(request: FastifyRequest): Form {
  return (name) => {
    const value = fieldOf(request, name)
    return typeof value === 'string' ? value : ''
  }
}

/** The files of a request; a text field is returned as a file with that text. */
export function filesOf(request: FastifyRequest): Files {
  return (name) => Buffer.from(fieldOf(request, name) ?? '')
}

function fieldOf({ body }: FastifyRequest, name: string): string | Buffer | undefined {
  const value: unknown = body instanceof Map ? body.get(name) : undefined
  return typeof value === 'string' || Buffer.isBuffer(value) ? value : undefined
}

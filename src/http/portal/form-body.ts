import type { FastifyInstance, FastifyRequest } from 'fastify'
import { GatehouseError } from '../../errors.ts'
import { jsonBytesMax } from '../json-body.ts'

/** Largest file of accounts to import. */
export const importBytesMax = 10_485_760

/** The fields of a form; of one that comes twice the first counts. */
export type Form = (name: string) => string

const formType = /^application\/x-www-form-urlencoded(?:[ \t]*;|$)/i
const uploadType = /^multipart\/form-data[ \t]*;/i

/** Bodies are forms; a file is text like any other field. Whatever else comes is refused. */
export function acceptFormsOnly(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: jsonBytesMax }, (request, body, done) => {
    const bytes = Buffer.from(body)
    const { 'content-type': type = '', 'content-encoding': coding } = request.headers
    if (bytes.length === 0) return done(null, new Map())
    if (coding !== undefined || !(formType.test(type) || uploadType.test(type))) {
      return done(new GatehouseError('media-type-unsupported', { detail: 'Send a form.' }))
    }
    parseForm(bytes, type).then(
      (form) => done(null, form),
      () => done(new GatehouseError('request-invalid', { detail: 'The form cannot be read.' })),
    )
  })
}

async function parseForm(bytes: Buffer, type: string): Promise<ReadonlyMap<string, string>> {
  const fields = new Map<string, string>()
  const form = await new Response(new Uint8Array(bytes), { headers: { 'Content-Type': type } }).formData()
  for (const [name, value] of form) {
    if (!fields.has(name)) fields.set(name, typeof value === 'string' ? value : await value.text())
  }
  return fields
}

/** The form that came; a field that is not there is empty. */
export function formOf({ body }: FastifyRequest): Form {
  return (name) => (body instanceof Map ? String(body.get(name) ?? '') : '')
}

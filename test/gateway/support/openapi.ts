import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Test } from 'tap'
import type { RawResponse } from '../../setup/raw-client.ts'

interface Schema {
  readonly [keyword: string]: unknown
}

interface Answer {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

export interface OpenApiDocument {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Record<string, Answer> }>>>
  >
  readonly components: Schema
}

/** Checks answers against the document that the gateway itself serves. */
export interface Described {
  readonly document: OpenApiDocument
  /** @param operation `GET /api/v1/admin/accounts/{id}` */
  assert(t: Test, operation: string, response: RawResponse): void
}

export async function readDocument(url: string): Promise<Described> {
  const response = await fetch(`${url}/api/v1/openapi.json`)
  const document = (await response.json()) as OpenApiDocument
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })

  function assert(t: Test, operation: string, { status, headers, body }: RawResponse): void {
    const [method = '', path = ''] = operation.split(' ')
    const answer = document.paths[path]?.[method.toLowerCase()]?.responses[String(status)]
    t.ok(answer, `${operation} is described to answer ${status}`)
    if (!answer?.content) {
      t.equal(body, '', `${operation} has no body with ${status}`)
      return
    }
    const type = headers['content-type']?.split(';')[0] ?? ''
    const content = answer.content[type]
    t.ok(content, `${operation} is described to answer ${status} with ${type}`)
    if (!content || !type.endsWith('json')) return
    // References in a schema are to the components of the document.
    const validate = ajv.compile({ ...content.schema, components: document.components })
    const text = Buffer.from(body, 'latin1').toString()
    t.ok(validate(JSON.parse(text)), `${operation} ${status}: ${ajv.errorsText(validate.errors)}\n${text}`)
  }

  return { document, assert }
}

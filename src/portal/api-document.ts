import { parseJson } from '#platform/json.ts'

/** An operation of the gateway's own endpoints, as its page shows it. */
export interface ApiOperation {
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly isForAnyone: boolean
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly isRequired: boolean
    readonly description: string
  }[]
  /** undefined = there is none. */
  readonly body: ApiContent | undefined
  readonly responses: readonly ({
    readonly status: string
    readonly description: string
  } & Partial<ApiContent>)[]
}

interface ApiContent {
  readonly type: string
  /** JSON; undefined = the document has none. */
  readonly example: string | undefined
}

/** Operations about one thing. */
export interface ApiGroup {
  readonly name: string
  readonly description: string
  readonly operations: readonly ApiOperation[]
}

/** What is read of the document (OpenAPI 3.1), which is the gateway's own. */
interface ApiDocument {
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

type PathItem = Readonly<Record<(typeof methods)[number], Operation | undefined>> & {
  readonly parameters?: readonly Parameter[]
}

interface Operation {
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

interface Schema {
  readonly $ref?: string
  readonly examples?: readonly unknown[]
}

const methods = ['get', 'post', 'patch', 'delete'] as const

/** The operations of the document by its tags; those of the portal itself are left out. @param text of the document */
export function readApiDocument(text: string): readonly ApiGroup[] {
  // The cast is sound: this gateway has written it.
  const { tags, paths, components } = parseJson(text) as ApiDocument

  function contentOf(content: Content | undefined): ApiContent | undefined {
    const [first] = Object.entries(content ?? {})
    if (!first) return undefined
    const [type, { schema }] = first
    const name = schema.$ref?.split('/').at(-1) ?? ''
    const example = (components.schemas[name] ?? schema).examples?.[0]
    return { type, example: example === undefined ? undefined : JSON.stringify(example, undefined, 2) }
  }

  const all = Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const { [method]: operation, parameters: ofPath = [] } = item
      if (!operation) return []
      const {
        tags: own,
        summary,
        description = '',
        security,
        parameters = [],
        requestBody,
        responses,
      } = operation
      const read: ApiOperation = {
        method: method.toUpperCase(),
        path,
        summary,
        description,
        isForAnyone: security?.length === 0,
        parameters: [...ofPath, ...parameters].map(
          ({ required = false, description: text = '', ...named }) => ({
            name: named.name,
            in: named.in,
            isRequired: required,
            description: text,
          }),
        ),
        body: contentOf(requestBody?.content),
        responses: Object.entries(responses).map(([status, response]) => ({
          status,
          description: response.description,
          ...(status.startsWith('2') && contentOf(response.content)),
        })),
      }
      return [{ tag: own[0], operation: read }]
    }),
  )
  return tags
    .filter(({ name }) => name !== 'Portal')
    .map(({ name, description }) => ({
      name,
      description,
      operations: all.filter(({ tag }) => tag === name).map(({ operation }) => operation),
    }))
}

import { isAdminPath, type PublicPath } from '#gateway/routes/own-operations.ts'
import { parseJson } from '#platform/json.ts'
import { adminRole } from '#store/accounts.ts'
import type { CreatePages } from '../portal-page.ts'
import { type ApiContent, type ApiGroup, type ApiOperation, apiPage } from '../views/api-page.ts'
import { callGateway } from './call-gateway.ts'
import { admittingRoutes, callableRoutes, exampleTarget } from './try-it.ts'

const documentPath = '/api/v1/openapi.json' satisfies PublicPath
/** Several times what the document has. */
const documentBytesMax = 1_048_576

/** For those who hold keys: the routes that their account may call, and the endpoints of the gateway itself. */
export const apiPages: CreatePages = ({ routes, publicOrigin, carriers, gatewayUrl }) => {
  let groups: readonly ApiGroup[] | undefined

  /** Read from the gateway itself, once. @returns undefined if it cannot be read now */
  async function readGroups(): Promise<readonly ApiGroup[] | undefined> {
    const request = { method: 'GET', path: documentPath }
    try {
      const { status, body } = await callGateway(gatewayUrl(), request, documentBytesMax)
      if (status === 200) groups = readApiDocument(body)
    } catch {}
    return groups
  }

  return [
    {
      path: '/api',
      get: async ({ viewer: { account }, show }) => {
        const isAdmin = account.role === adminRole
        const known = groups ?? (await readGroups())
        const view = {
          routes: admittingRoutes(routes, account),
          groups: known?.filter(
            ({ operations }) => isAdmin || !operations.some(({ path }) => isAdminPath(path)),
          ),
          ...exampleTarget(publicOrigin, callableRoutes(routes, account)),
          documentPath,
          carriers,
        }
        return show((frame) => apiPage(frame, view))
      },
    },
  ]
}

/** The operations of the document by its tags; those of the portal itself are left out. @param text of the document */
function readApiDocument(text: string): readonly ApiGroup[] {
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

  function operationsOf(tag: string): readonly ApiOperation[] {
    return Object.entries(paths).flatMap(([path, { parameters = [], ...item }]) =>
      methods.flatMap((method) => {
        const operation = item[method]
        if (operation?.tags[0] !== tag) return []
        const all = [...parameters, ...(operation.parameters ?? [])]
        const { summary, description = '', security, requestBody, responses } = operation
        return {
          method: method.toUpperCase(),
          path,
          summary,
          description,
          isForAnyone: security?.length === 0,
          parameters: all.map(({ required = false, description = '', ...named }) => ({
            name: named.name,
            in: named.in,
            isRequired: required,
            description,
          })),
          body: contentOf(requestBody?.content),
          responses: Object.entries(responses).map(([status, { description, content }]) => ({
            status,
            description,
            ...(status.startsWith('2') && contentOf(content)),
          })),
        }
      }),
    )
  }

  return tags
    .filter(({ name }) => name !== 'Portal')
    .map((tag) => ({ ...tag, operations: operationsOf(tag.name) }))
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

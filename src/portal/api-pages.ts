import type { RouteOptions } from '#gateway/routes/compile.ts'
import { isAdminPath, type PublicPath } from '#gateway/routes/own-operations.ts'
import { type Account, adminRole } from '#store/accounts.ts'
import { type ApiGroup, readApiDocument } from './api-document.ts'
import { callGateway } from './integration/call-gateway.ts'
import { admits } from './integration/try-it.ts'
import type { CreatePages } from './portal-page.ts'
import { type ApiRoute, apiPage } from './views/api-page.ts'

const documentPath = '/api/v1/openapi.json' satisfies PublicPath
/** Several times what the document has. */
const documentBytesMax = 1_048_576

/** For those who hold keys: the routes that their account may call, and the endpoints of the gateway itself. */
export const apiPages: CreatePages = ({ routes, publicOrigin, carriers, gatewayUrl }) => {
  let groups: readonly ApiGroup[] | undefined

  /** Read from the gateway itself, once. @returns undefined if it cannot be read now */
  async function readGroups(): Promise<readonly ApiGroup[] | undefined> {
    const request = { method: 'GET', path: documentPath, host: undefined, headers: {}, body: '' }
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
          routes: routesFor(routes, account),
          groups: known?.filter(
            ({ operations }) => isAdmin || !operations.some(({ path }) => isAdminPath(path)),
          ),
          publicOrigin,
          documentPath,
          carriers,
        }
        return show((frame) => apiPage(frame, view))
      },
    },
  ]
}

/** The routes that would admit the account; public ones last. */
function routesFor(routes: readonly RouteOptions[], account: Account): readonly ApiRoute[] {
  return routes
    .filter((route) => admits(route, account))
    .toSorted((one, other) => Number(one.auth === 'none') - Number(other.auth === 'none'))
}

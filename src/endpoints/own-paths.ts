import { accountPaths } from './account-paths.ts'
import { jwksPath } from './jwks.ts'

/** The paths that belong to the gateway for every method, and win over any route. */
export interface OwnPaths {
  has(path: string): boolean
  /** The methods that a path takes; undefined where the portal decides. */
  methodsOf(path: string): readonly string[] | undefined
}

/** Whether there is a portal, and where. */
interface PortalMount {
  readonly enabled: boolean
  readonly path: string
}

export const openApiPath = '/api/v1/openapi.json'

/** Paths of the admin API, as they are registered. */
export const adminPaths = {
  accounts: '/api/v1/admin/accounts',
  account: '/api/v1/admin/accounts/:id',
  secretKey: '/api/v1/admin/accounts/:id/secret-key',
  apiKey: '/api/v1/admin/accounts/:id/api-key',
  sessions: '/api/v1/admin/accounts/:id/sessions',
  audit: '/api/v1/admin/audit',
} as const

const safeMethods = ['GET', 'HEAD']
const methodsByPath: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...Object.values(accountPaths).map((path) => [path, ['POST']] as const),
  [jwksPath, safeMethods],
  [openApiPath, safeMethods],
])
const adminPrefix = '/api/v1/admin/'
const adminMethods: Readonly<Record<keyof typeof adminPaths, readonly string[]>> = {
  accounts: [...safeMethods, 'POST'],
  account: [...safeMethods, 'PATCH', 'DELETE'],
  secretKey: ['POST'],
  apiKey: ['POST'],
  sessions: [...safeMethods, 'DELETE'],
  audit: safeMethods,
}
// The cast is sound: both have the same names.
const adminPatterns = (Object.keys(adminPaths) as (keyof typeof adminPaths)[]).map((name) => ({
  pattern: new RegExp(`^${adminPaths[name].replaceAll(/:\w+/g, '[^/]+')}$`),
  methods: adminMethods[name],
}))

/** Whether an own path is one of the admin API. */
export function isAdminPath(path: string): boolean {
  return path.startsWith(adminPrefix)
}

export function createOwnPaths({ enabled, path: portalPath }: PortalMount): OwnPaths {
  const portalPrefix = `${portalPath}/`

  function methodsOf(path: string): readonly string[] | undefined {
    const known = methodsByPath.get(path)
    if (known || !isAdminPath(path)) return known
    return adminPatterns.find(({ pattern }) => pattern.test(path))?.methods
  }

  return {
    methodsOf,
    has: (path) =>
      methodsOf(path) !== undefined || (enabled && (path === portalPath || path.startsWith(portalPrefix))),
  }
}

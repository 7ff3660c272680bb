import { accountPaths } from './accounts.ts'
import { jwksPath } from './jwks.ts'

/** Paths that are the gateway's for every method, and win over any route. */
export interface OwnPaths {
  has(path: string): boolean
}

/** Whether there is a portal, and where. */
interface PortalPlace {
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

const exact: ReadonlySet<string> = new Set([...Object.values(accountPaths), jwksPath, openApiPath])
const adminPrefix = '/api/v1/admin/'
const adminPatterns = Object.values(adminPaths).map(
  (path) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
)

export function createOwnPaths({ enabled, path: portalPath }: PortalPlace): OwnPaths {
  const portalPrefix = `${portalPath}/`
  return {
    has: (path) => {
      if (exact.has(path)) return true
      if (enabled && (path === portalPath || path.startsWith(portalPrefix))) return true
      return path.startsWith(adminPrefix) && adminPatterns.some((pattern) => pattern.test(path))
    },
  }
}

import { startAppsInstead } from '../../setup/gateway.ts'

// slow: the attacks once more, on an app

/** The tests of the gateway, on an app with the plugin and http-proxy. */
startAppsInstead()
await import('../../security/identity-aliases.test.ts')
await import('../../gateway/identity.test.ts')
await import('../../gateway/dropped-headers.test.ts')
await import('../../gateway/scopes.test.ts')
await import('../../gateway/upstream-tls.test.ts')
await import('../../gateway/forwarded-headers.test.ts')
await import('../../gateway/prefixes.test.ts')

import { startAppsInstead } from '../../setup/gateway.ts'

// slow: the attacks once more, on an app

/** The tests of the gateway, on an app with the plugin and http-proxy. */
startAppsInstead()
await import('../../gateway/recognised-credentials.test.ts')
await import('../../gateway/failed-key-pairs.test.ts')
await import('../../gateway/keys-revoke.test.ts')
await import('../../gateway/refresh-cookie.test.ts')
await import('../../gateway/revoke.test.ts')
await import('../../gateway/tokens.test.ts')

import { startAppsInstead } from '../../setup/gateway.ts'

// slow: the attacks once more, on an app

/** The tests of the gateway, on an app with the plugin and http-proxy. */
startAppsInstead()
await import('../../security/hostile-upstream.test.ts')
await import('../../security/upstream-address.test.ts')
await import('../../security/upstream-headers.test.ts')
await import('../../security/repeated-heads.test.ts')

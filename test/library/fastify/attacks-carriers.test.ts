import { startAppsInstead } from '../../setup/gateway.ts'

// slow: the attacks once more, on an app

/** The tests of the gateway, on an app with the plugin and http-proxy. */
startAppsInstead()
await import('../../security/key-carriers.test.ts')
await import('../../security/basic-keys.test.ts')
await import('../../security/method-override.test.ts')
await import('../../security/prototype-pollution.test.ts')
await import('../../gateway/secret-key-limits.test.ts')
await import('../../gateway/access.test.ts')

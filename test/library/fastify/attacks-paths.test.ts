import { startAppsInstead } from '../../setup/gateway.ts'

// slow: the attacks once more, on an app

/** The tests of the gateway, on an app with the plugin and http-proxy. */
startAppsInstead()
await import('../../security/path-confusion.test.ts')
await import('../../security/encoded-slashes.test.ts')
await import('../../security/forwarding-headers.test.ts')
await import('../../security/webdav-destination.test.ts')
await import('../../security/second-targets.test.ts')

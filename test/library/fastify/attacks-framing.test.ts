import { startAppsInstead } from '../../setup/gateway.ts'

// slow: the attacks once more, on an app

/** The tests of the gateway, on an app with the plugin and http-proxy. */
startAppsInstead()
await import('../../security/request-smuggling.test.ts')
await import('../../security/chunk-tricks.test.ts')
await import('../../security/connection-tricks.test.ts')
await import('../../security/lenient-servers.test.ts')
await import('../../security/unread-bodies.test.ts')

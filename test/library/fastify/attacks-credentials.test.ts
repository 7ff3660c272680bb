import { startAppsInstead } from '../../setup/gateway.ts'

// slow: the attacks once more, on an app

/** The tests of the gateway, on an app with the plugin and http-proxy. */
startAppsInstead()
await import('../../security/ambiguous-credentials.test.ts')
await import('../../security/cached-credentials.test.ts')
await import('../../security/jwt-forgery.test.ts')
await import('../../security/json-bodies.test.ts')
await import('../../gateway/challenges.test.ts')

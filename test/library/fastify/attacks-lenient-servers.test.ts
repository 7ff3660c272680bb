import t from 'tap'
import { startAppsInstead } from '../../setup/gateway.ts'

// slow: the attacks once more, on an app

/** Beside `attacks.test.ts`, as it needs programs that may not be there. */
startAppsInstead(t)
await import('../../security/lenient-servers.test.ts')

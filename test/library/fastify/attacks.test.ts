import t from 'tap'
import { startAppsInstead } from '../../setup/gateway.ts'

// slow: the attacks once more, on an app

/** The tests of the gateway that apply to an app with the plugin and http-proxy; lenient servers have a file of their own. */
const files = [
  'security/hostile-upstream',
  'security/upstream-address',
  'security/upstream-headers',
  'security/repeated-heads',
  'security/key-carriers',
  'security/backend-authorization',
  'security/basic-keys',
  'security/method-override',
  'security/prototype-pollution',
  'security/ambiguous-credentials',
  'security/cached-credentials',
  'security/jwt-forgery',
  'security/json-bodies',
  'security/request-smuggling',
  'security/chunk-tricks',
  'security/connection-tricks',
  'security/unread-bodies',
  'security/identity-aliases',
  'security/path-confusion',
  'security/rewritten-paths',
  'security/empty-segments',
  'security/encoded-slashes',
  'security/forwarding-headers',
  'security/webdav-destination',
  'security/second-targets',
  'gateway/secret-key-limits',
  'gateway/access',
  'gateway/challenges',
  'gateway/recognised-credentials',
  'gateway/failed-key-pairs',
  'gateway/keys-revoke',
  'gateway/refresh-cookie',
  'gateway/revoke',
  'gateway/tokens',
  'gateway/oauth-errors',
  'gateway/identity',
  'gateway/dropped-headers',
  'gateway/scopes',
  'gateway/upstream-tls',
  'gateway/forwarded-headers',
  'gateway/prefixes',
  'gateway/response-headers',
]

t.setTimeout(600_000)
startAppsInstead(t)
for (const file of files) await import(`../../${file}.test.ts`)

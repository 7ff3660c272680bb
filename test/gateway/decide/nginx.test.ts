import { readFileSync } from 'node:fs'
import t from 'tap'
import { nginx } from './proxies/nginx.ts'
import { testProxy, testWebSockets } from './proxies/suite.ts'

testProxy(t, nginx)
testWebSockets(t, nginx)

t.test('no location of nginx lets an answer lead into another', (t) => {
  for (const file of ['deploy/proxies/nginx-auth-request.conf', 'deploy/fronts/nginx.conf']) {
    const locations = readFileSync(file, 'utf8')
      .split(/^ +location /m)
      .slice(1)
    const forwarding = locations.filter((each) => each.includes('proxy_pass http'))
    t.ok(forwarding.length > 0)
    for (const location of forwarding) t.match(location, 'proxy_ignore_headers X-Accel-Redirect;', file)
  }
  t.end()
})

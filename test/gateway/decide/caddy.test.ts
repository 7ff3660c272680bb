import t from 'tap'
import { caddy } from './proxies/caddy.ts'
import { testProxy, testWebSockets } from './proxies/suite.ts'

testProxy(t, caddy)
testWebSockets(t, caddy)

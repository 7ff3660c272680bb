import t from 'tap'
import { haproxy } from './proxies/haproxy.ts'
import { testProxy, testWebSockets } from './proxies/suite.ts'

testProxy(t, haproxy)
testWebSockets(t, haproxy)

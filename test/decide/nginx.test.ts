import t from 'tap'
import { nginx } from './proxies/nginx.ts'
import { testProxy, testWebSockets } from './proxies/suite.ts'

testProxy(t, nginx)
testWebSockets(t, nginx)

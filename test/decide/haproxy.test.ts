import t from 'tap'
import { haproxy } from './proxies/haproxy.ts'
import { testProxy } from './proxies/suite.ts'

testProxy(t, haproxy)

import t from 'tap'
import { nginx } from './proxies/nginx.ts'
import { testProxy } from './proxies/suite.ts'

testProxy(t, nginx)

import t from 'tap'
import { caddy } from './proxies/caddy.ts'
import { testProxy } from './proxies/suite.ts'

testProxy(t, caddy)

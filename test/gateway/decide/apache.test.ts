import t from 'tap'
import { apache } from './proxies/apache.ts'
import { testProxy } from './proxies/suite.ts'

testProxy(t, apache)

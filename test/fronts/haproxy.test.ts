import t from 'tap'
import { haproxy } from './run-front.ts'
import { testFront } from './suite.ts'

testFront(t, haproxy)

import t from 'tap'
import { haproxy } from './run-front.ts'
import { testFront } from './suite.ts'

// needs: haproxy, curl

testFront(t, haproxy)

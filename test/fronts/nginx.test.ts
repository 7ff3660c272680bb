import t from 'tap'
import { nginx } from './run-front.ts'
import { testFront } from './suite.ts'

// needs: nginx, curl

testFront(t, nginx)

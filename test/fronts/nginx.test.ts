import t from 'tap'
import { nginx } from './run-front.ts'
import { testFront } from './suite.ts'

testFront(t, nginx)

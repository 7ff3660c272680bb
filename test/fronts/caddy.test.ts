import t from 'tap'
import { caddy } from './run-front.ts'
import { testFront } from './suite.ts'

testFront(t, caddy)

import t from 'tap'
import { caddy } from './run-front.ts'
import { testFront } from './suite.ts'

// needs: caddy, curl

testFront(t, caddy)

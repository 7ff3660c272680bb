import { expectCases } from './cases/expect.ts'
import { checkCases } from './suite.ts'

checkCases(expectCases)

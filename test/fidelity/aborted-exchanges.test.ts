import { endingCases } from './cases/aborted-exchanges.ts'
import { checkCases } from './suite.ts'

checkCases(endingCases)

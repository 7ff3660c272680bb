import { crossingCases } from './cases/response-isolation.ts'
import { checkCases } from './suite.ts'

checkCases(crossingCases)

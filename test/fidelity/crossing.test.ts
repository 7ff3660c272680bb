import { crossingCases } from './cases/crossing.ts'
import { checkCases } from './suite.ts'

checkCases(crossingCases)

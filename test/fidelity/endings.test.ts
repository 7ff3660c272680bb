import { endingCases } from './cases/endings.ts'
import { checkCases } from './suite.ts'

checkCases(endingCases)

import { frontCases } from './cases/front.ts'
import { checkCases } from './suite.ts'

checkCases(frontCases)

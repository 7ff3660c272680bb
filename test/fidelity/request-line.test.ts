import { frontCases } from './cases/request-line.ts'
import { checkCases } from './suite.ts'

checkCases(frontCases)

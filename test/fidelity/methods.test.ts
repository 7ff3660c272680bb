import { methodCases } from './cases/methods.ts'
import { checkCases } from './suite.ts'

checkCases(methodCases)

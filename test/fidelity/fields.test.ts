import { fieldCases } from './cases/fields.ts'
import { checkCases } from './suite.ts'

checkCases(fieldCases)

import { brokenRequestCases } from './cases/broken-requests.ts'
import { checkCases } from './suite.ts'

checkCases(brokenRequestCases)

import { brokenAnswerCases } from './cases/broken-answers.ts'
import { checkCases } from './suite.ts'

checkCases(brokenAnswerCases)

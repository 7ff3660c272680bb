import { answerCases } from './cases/answers.ts'
import { checkCases } from './suite.ts'

checkCases(answerCases)

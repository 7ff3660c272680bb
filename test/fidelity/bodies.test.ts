import { bodyCases } from './cases/bodies.ts'
import { checkCases } from './suite.ts'

checkCases(bodyCases)

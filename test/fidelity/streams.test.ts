import { streamCases } from './cases/streams.ts'
import { checkCases } from './suite.ts'

checkCases(streamCases)

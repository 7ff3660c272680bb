import type { Case } from './case-context.ts'
import { endingCases } from './cases/aborted-exchanges.ts'
import { answerCases } from './cases/answers.ts'
import { bodyCases } from './cases/bodies.ts'
import { brokenAnswerCases } from './cases/broken-answers.ts'
import { brokenRequestCases } from './cases/broken-requests.ts'
import { expectCases } from './cases/expect.ts'
import { fieldCases } from './cases/fields.ts'
import { methodCases } from './cases/methods.ts'
import { frontCases } from './cases/request-line.ts'
import { crossingCases } from './cases/response-isolation.ts'
import { streamCases } from './cases/streams.ts'

/** Everything that is promised of a proxy here, by what it is about. */
export const groups: Readonly<Record<string, readonly Case[]>> = {
  methods: methodCases,
  answers: answerCases,
  fields: fieldCases,
  bodies: bodyCases,
  expect: expectCases,
  streams: streamCases,
  endings: endingCases,
  crossing: crossingCases,
  'broken-requests': brokenRequestCases,
  'broken-answers': brokenAnswerCases,
  front: frontCases,
}

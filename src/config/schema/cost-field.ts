import type { CostTerm } from '#gateway/routes/route.ts'
import { either, named, text } from './fields.ts'
import { convert, type Field } from './node.ts'

const costPath = '[A-Za-z0-9_-]{1,64}(?:\\.[A-Za-z0-9_-]{1,64}){0,7}'
const costPathsPattern = `^${costPath}(?: \\| ${costPath}){0,3}$`

const factor: Field<number> = {
  type: 'number',
  minimum: 0,
  maximum: 1_000_000_000,
  description: 'What the number is multiplied by.',
}

export const costField = convert<string | Readonly<Record<string, number>>, readonly CostTerm[]>(
  either(
    text({ pattern: costPathsPattern, description: 'The path of one number.' }),
    named(
      factor,
      { minProperties: 1, maxProperties: 8, description: 'Several numbers that add up, each with a factor.' },
      costPathsPattern,
    ),
    {
      description:
        'Where the body of a response (JSON or an event stream) says how many units a request used: the dotted path of a number, such as usage.total_tokens, or up to 8 paths with a factor each, which add up. `a.b | c.b` names two alternatives. Of several events or lines, the last that has it counts. The sum is rounded up, and is at most 1000000000. The body passes as it is; the upstream is asked not to compress it. A costHeader in the response takes precedence. Absent, or without any of the fields, a request is one unit.',
    },
  ),
  toCostTerms,
)

function toCostTerms(costField: string | Readonly<Record<string, number>>): readonly CostTerm[] {
  const factors = typeof costField === 'string' ? { [costField]: 1 } : costField
  return Object.entries(factors).map(([paths, factor]) => ({ paths: paths.split(' | '), factor }))
}

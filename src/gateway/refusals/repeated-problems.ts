import { dateLine } from '#http/h1/response-writer.ts'
import type { Carriers } from '#identity/keys/carriers.ts'
import { type ErrorCode, errorDefinitions } from '#platform/errors/codes.ts'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { copyString } from '#platform/text.ts'
import {
  completeText,
  describeProblem,
  type ProblemContext,
  type ProblemText,
  serializeProblem,
} from './describe-problem.ts'

/** The response to a failed request; those that repeat are built once, but for their ID. */
export function problemText(error: GatehouseError, context: ProblemContext): ProblemText {
  const { requestId, sentStatus = error.status, extraLines, isRegistry } = context
  const isUsual = sentStatus === error.status && !isRegistry && isPlainInJson(requestId)
  const key = isUsual ? repeatedKey(error) : undefined
  return key === undefined
    ? completeText(serializeProblem(describeProblem(error, context)), extraLines)
    : repeatedProblem(key, error, context).withId(requestId, extraLines)
}

/** Whether it is written as it is: it has no control characters, as it is in a field line too. */
function isPlainInJson(requestId: string): boolean {
  return !requestId.includes('"') && !requestId.includes('\\')
}

/** What names the responses that differ only in the ID, for one route; undefined = there are none. */
function repeatedKey(error: GatehouseError): ErrorCode | GatehouseError | undefined {
  const { code, detail, errors, allow, rate, isShared } = error
  // One object for each code and detail.
  if (isShared) return error
  if (errors || allow || rate) return undefined
  const defaults: { readonly title: string; readonly detail?: string } = errorDefinitions[code]
  return detail === defaults.detail ? code : undefined
}

/**
 * A response but for its ID, which comes last in lines and body. Refusing must cost less than forwarding, so it is in as few
 * texts as possible: V8 copies each that is joined on its own.
 */
class RepeatedProblem {
  readonly #lines: string
  readonly #body: string
  #date = ''
  #idLength = -1
  #linesAfterId = ''

  constructor({ lines, body }: ProblemText) {
    this.#lines = copyString(lines.slice(0, -'\r\n'.length))
    this.#body = copyString(body.slice(0, -bodyAfterId.length))
  }

  withId(requestId: string, extraLines = ''): ProblemText {
    const date = dateLine()
    if (date !== this.#date || requestId.length !== this.#idLength) this.#prepare(date, requestId.length)
    return {
      lines: extraLines + this.#lines + requestId + this.#linesAfterId,
      body: this.#body + requestId + bodyAfterId,
    }
  }

  #prepare(date: string, idLength: number): void {
    const length = this.#body.length + idLength + bodyAfterId.length
    this.#date = date
    this.#idLength = idLength
    this.#linesAfterId = copyString(`\r\n${date}Content-Length: ${length}\r\n`)
  }
}

const bodyAfterId = '"}\n'

/** The responses about one route; a reload may change the carriers. */
interface RepeatedProblems {
  readonly carriers: Carriers
  readonly byKey: Map<ErrorCode | GatehouseError, RepeatedProblem>
}

const noAccess = {}
const problemsOf = new WeakMap<object, RepeatedProblems>()

function repeatedProblem(
  key: ErrorCode | GatehouseError,
  error: GatehouseError,
  context: ProblemContext,
): RepeatedProblem {
  const { access = noAccess, carriers } = context
  const known = problemsOf.get(access)
  const isCurrent = known !== undefined && (access === noAccess || known.carriers === carriers)
  const { byKey } = isCurrent ? known : startProblems(access, carriers)
  const repeated = byKey.get(key)
  if (repeated !== undefined) return repeated
  const added = new RepeatedProblem(serializeProblem(describeProblem(error, { ...context, requestId: '' })))
  byKey.set(key, added)
  return added
}

function startProblems(access: object, carriers: Carriers): RepeatedProblems {
  const problems: RepeatedProblems = { carriers, byKey: new Map() }
  problemsOf.set(access, problems)
  return problems
}

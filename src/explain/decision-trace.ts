import { type ErrorCode, errorDefinitions } from '../errors/codes.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import { errorMessage } from '../platform/system-error.ts'
import type { Explanation, Step, StepName } from './explanation.ts'

type StepResult = Pick<Step, 'detail' | 'facts'>

/** Records the steps of a decision as they are made. */
export interface DecisionTrace {
  /** A refusal from now on belongs to this step. */
  beginStep(step: StepName): void
  /** The request belongs to this route from now on. */
  setRoute(route: string): void
  /** Records that a step has passed; the next begins. */
  passStep(step: StepName, result: StepResult, next?: StepName): void
  /** Runs the steps; a GatehouseError in them is the refusal. `no-content`: the gateway itself responds with 204. */
  run(steps: () => Promise<'forward' | 'answer' | 'no-content'>): Promise<Explanation>
}

export function createDecisionTrace(): DecisionTrace {
  const steps: Step[] = []
  let current: StepName = 'request'
  let route = '_unmatched'

  function refuse(error: GatehouseError): Explanation {
    const { code, status, allow } = error
    const facts = { code, check: errorDefinitions[code].check, ...(allow && { allow }) }
    steps.push({ step: current, outcome: 'refused', detail: describe(error), facts })
    return { decision: 'refuse', status, code, route, steps }
  }

  return {
    beginStep: (step) => {
      current = step
    },
    setRoute: (name) => {
      route = name
    },
    passStep: (step, { detail, facts }, next) => {
      steps.push({ step, outcome: 'passed', detail, facts })
      current = next ?? current
    },
    run: async (take) => {
      try {
        const outcome = await take()
        if (outcome === 'no-content') return { decision: 'answer', status: 204, route, steps }
        return { decision: outcome, status: 200, route, steps }
      } catch (error) {
        if (error instanceof GatehouseError && error.code !== 'internal') return refuse(error)
        throw error
      }
    },
  }
}

const outOfReach: ErrorCode = 'store-unavailable'

function describe({ code, detail, title, allow, cause }: GatehouseError): string {
  if (code === outOfReach) {
    const reason = cause === undefined ? '' : ` (${errorMessage(cause)})`
    return `credential store unavailable${reason}: a gateway that has the caller cached still forwards the request`
  }
  const methods = allow && allow.length > 0 ? ` Allow: ${allow.join(', ')}` : ''
  return `${detail ?? title}${methods}`
}

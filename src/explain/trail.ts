import { type Code, failures, GatehouseError, reasonOf } from '../errors.ts'
import type { Explanation, Step, StepName } from './explanation.ts'

type Told = Pick<Step, 'detail' | 'facts'>

/** Records the steps of a decision as they are taken. */
export interface Trail {
  /** A refusal from now on belongs to this step. */
  begin(step: StepName): void
  /** The request belongs to this route from now on. */
  enter(route: string): void
  /** Records that a step has passed; the next begins. */
  pass(step: StepName, told: Told, next?: StepName): void
  /** Runs the steps; a GatehouseError in them is the refusal. `no-content`: the gateway itself answers 204. */
  follow(steps: () => Promise<'forward' | 'answer' | 'no-content'>): Promise<Explanation>
}

export function createTrail(): Trail {
  const steps: Step[] = []
  let current: StepName = 'request'
  let route = '_unmatched'

  function refuse(error: GatehouseError): Explanation {
    const { code, status, allow } = error
    const facts = { code, check: failures[code].check, ...(allow && { allow }) }
    steps.push({ step: current, outcome: 'refused', detail: describe(error), facts })
    return { decision: 'refuse', status, code, route, steps }
  }

  return {
    begin: (step) => {
      current = step
    },
    enter: (name) => {
      route = name
    },
    pass: (step, { detail, facts }, next) => {
      steps.push({ step, outcome: 'passed', detail, facts })
      current = next ?? current
    },
    follow: async (take) => {
      try {
        const taken = await take()
        if (taken === 'no-content') return { decision: 'answer', status: 204, route, steps }
        return { decision: taken, status: 200, route, steps }
      } catch (error) {
        if (error instanceof GatehouseError && error.code !== 'internal') return refuse(error)
        throw error
      }
    },
  }
}

const outOfReach: Code = 'store-unavailable'

function describe({ code, detail, title, allow, cause }: GatehouseError): string {
  if (code === outOfReach) {
    const reason = cause === undefined ? '' : ` (${reasonOf(cause)})`
    return `the store does not answer${reason}: a gateway that already knows the caller still lets it pass`
  }
  const methods = allow && allow.length > 0 ? ` Allow: ${allow.join(', ')}` : ''
  return `${detail ?? title}${methods}`
}

import { type FindSignIn, type SignInTarget, signInStatus } from '#gateway/browser/sign-in-redirect.ts'
import { continuePath } from '#gateway/browser/sign-in-return.ts'
import type { DecisionStep } from '#gateway/gate/gate-result.ts'
import { unmatchedRouteName } from '#gateway/routes/route.ts'
import { clientNetwork } from '#platform/addresses.ts'
import { type ErrorCode, type ErrorDefinition, errorDefinitions } from '#platform/errors/codes.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { errorMessage } from '#platform/errors/operator-error.ts'
import type { Rate } from '#store/rates.ts'
import { redactTarget } from '../redact.ts'
import type { ExplainedArrival } from './read-arrival.ts'

/** The steps of the decision, the second targets that it names, and what the upstream would get. */
type StepName = DecisionStep | 'destination' | 'upstream'

/** One step of the decision, in the order of the gateway; the last may be the one that refuses. */
export interface Step {
  readonly step: StepName
  readonly outcome: 'passed' | 'refused'
  /** As text, without secrets. */
  readonly detail: string
  /** What `detail` says, as data. */
  readonly facts: Readonly<Record<string, unknown>>
}

export type StepResult = Pick<Step, 'detail' | 'facts'>

/** The part of a result about something that the request does not have. */
export const unmentioned: StepResult = { detail: '', facts: {} }

export interface Explanation {
  /**
   * `answer`: the gateway itself answers, and nothing is refused: at one of its own paths, to a preflight, or to
   * OPTIONS that no upstream gets.
   */
  readonly decision: 'forward' | 'refuse' | 'answer'
  /**
   * 200 if nothing is refused, whatever the upstream then responds; 204 for a preflight, or OPTIONS that the gateway
   * answers; 303 for a refused page visit that is led to the sign-in.
   */
  readonly status: number
  readonly code?: ErrorCode
  /** Name of the route, `_gateway` or `_unmatched`. */
  readonly route: string
  readonly steps: readonly Step[]
}

/** Collects the steps of a decision, in the order in which they were first taken. */
export type StepRecorder = ReturnType<typeof createStepRecorder>

const order: readonly StepName[] = [
  'request',
  'cors',
  'route',
  'scheme',
  'principal',
  'policy',
  'destination',
  'limits',
  'upstream',
]

interface StepRecorderOptions {
  /** How many wrong credentials one client address may send. */
  readonly failures: Rate
  /** undefined = no route leads page visits to the sign-in. */
  readonly findSignIn: FindSignIn | undefined
}

export function createStepRecorder({ failures, findSignIn }: StepRecorderOptions) {
  const steps = new Map<StepName, Step>()
  let current: StepName = 'request'
  let arrival: ExplainedArrival | undefined

  function refuse(error: GatehouseError): Explanation {
    const signIn = arrival && findSignIn?.(arrival, error)
    if (!signIn) return refuseWith(error)
    if (signIn.loopError) return refuseWith(signIn.loopError)
    const { code } = error
    const result = describeSignIn(signIn, { code, reason: describe(error, arrival, failures) })
    steps.set(current, { step: current, outcome: 'refused', ...result })
    return { decision: 'refuse', status: signInStatus, code, ...found() }
  }

  function refuseWith(error: GatehouseError): Explanation {
    const { code, status, allow } = error
    // What was recognised says more than general advice about credentials.
    const facts = {
      code,
      ...(!isRecognised(error) && { check: errorDefinitions[code].check }),
      ...(allow && { allow }),
    }
    const detail = describe(error, arrival, failures)
    steps.set(current, { step: current, outcome: 'refused', detail, facts })
    return { decision: 'refuse', status, code, ...found() }
  }

  function found(): Pick<Explanation, 'route' | 'steps'> {
    return { route: arrival?.outcome.route ?? unmatchedRouteName, steps: [...steps.values()] }
  }

  return {
    /** What becomes of this request: its route, and why it is refused. */
    follow: (followed: ExplainedArrival): void => {
      arrival = followed
    },
    /** Records that a step has passed: a later refusal belongs to the next. @param result undefined = not shown */
    pass: (step: StepName, result: StepResult | undefined): void => {
      if (result) steps.set(step, { step, outcome: 'passed', ...result })
      current = order[order.indexOf(step) + 1] ?? step
    },
    /** Runs the steps; a GatehouseError in them is the refusal. `no-content`: the gateway itself responds with 204. */
    run: async (take: () => Promise<'forward' | 'answer' | 'no-content'>): Promise<Explanation> => {
      try {
        const taken = await take()
        return taken === 'no-content'
          ? { decision: 'answer', status: 204, ...found() }
          : { decision: taken, status: 200, ...found() }
      } catch (error) {
        if (error instanceof GatehouseError && error.code !== 'internal') return refuse(error)
        throw error
      }
    },
  }
}

/** Whether it says what the credential looks like, and where it belongs. */
function isRecognised({ code, detail, isShared }: GatehouseError): boolean {
  const definition: ErrorDefinition = errorDefinitions[code]
  return (
    isShared && detail !== definition.detail && code !== 'credentials-missing' && code !== 'path-ambiguous'
  )
}

/** Codes with many causes, of which the log names one. */
const withReason: ReadonlySet<ErrorCode> = new Set([
  'secret-key-expired',
  'account-disabled',
  'token-invalid',
  'proof-invalid',
  'certificate-required',
  'certificate-unknown',
  'issuer-unavailable',
  'credentials-missing',
])

function describe(error: GatehouseError, arrival: ExplainedArrival | undefined, failures: Rate): string {
  const { code, detail, title, allow, cause } = error
  if (code === 'store-unavailable') {
    const why = cause === undefined ? '' : ` (${errorMessage(cause)})`
    return `credential store unavailable${why}: a gateway that has the caller cached still forwards the request`
  }
  if (code === 'secret-key-invalid' && arrival)
    return `${detail ?? title} ${describeWrongKey(arrival.client.address, failures)}`
  const reason = arrival?.outcome.reason
  if (code === 'path-ambiguous' && reason !== undefined) return `The path is ambiguous: ${reason}.`
  if (code === 'destination-forbidden' && reason !== undefined) return `${title}: ${reason}.`
  if (withReason.has(code) && reason !== undefined) return `${detail ?? title} (${reason})`
  const methods = allow && allow.length > 0 ? ` Allow: ${allow.join(', ')}` : ''
  return `${detail ?? title}${methods}`
}

/** A refused page visit that is led to the sign-in. @param refusal what a client other than a browser would be told */
function describeSignIn(
  { portalUrl, returnPath }: SignInTarget,
  { code, reason }: { readonly code: ErrorCode; readonly reason: string },
): StepResult {
  const location = portalUrl + continuePath
  // Without its query: that is new for each browser where the portal has a host of its own, and may hold secrets.
  const returnTo = returnPath === '' ? null : redactTarget(decodeURIComponent(returnPath))
  const back = returnTo === null ? '' : `, and then back to ${returnTo}`
  return {
    detail: `a page visit, redirected to the sign-in: ${signInStatus}, Location: ${location}${back} (${code}: ${reason})`,
    facts: { code, location, returnTo },
  }
}

function describeWrongKey(address: string, { limit, perMs }: Rate): string {
  return `It would count as a failed attempt of ${clientNetwork(address)}; after ${limit} in ${perMs / 1_000} s the status is 429. explain counted nothing.`
}

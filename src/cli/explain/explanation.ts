import type { DecisionStep } from '#gateway/gate/gate.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'

/** A request to be explained; it is never sent. */
export interface ExplainedRequest {
  readonly method: string
  /** In origin form, as it would be sent. */
  readonly target: string
  /** Name, value, name, value, as they would be received. */
  readonly rawHeaders: readonly string[]
  /** Address of the other end of the connection. */
  readonly peer: string
  /** The listener that it comes to: `decide` = another proxy describes it, and would forward it. */
  readonly listener: 'main' | 'decide'
}

/** The steps of the decision, the second targets that it names, and what the upstream would get. */
export type StepName = DecisionStep | 'destination' | 'upstream'

/** One step of the decision, in the order of the gateway; the last may be the one that refuses. */
export interface Step {
  readonly step: StepName
  readonly outcome: 'passed' | 'refused'
  /** As text, without secrets. */
  readonly detail: string
  /** What `detail` says, as data. */
  readonly facts: Readonly<Record<string, unknown>>
}

/** The result of a step, as text and as data. */
export type StepResult = Pick<Step, 'detail' | 'facts'>

export interface Explanation {
  /** `answer`: the path is the gateway's own, so that no route applies, and the head is not rejected. */
  readonly decision: 'forward' | 'refuse' | 'answer'
  /** 200 if nothing is refused, whatever the upstream then responds; 204 for a preflight, or OPTIONS that the gateway
   * answers; 303 for a refused page visit that is led to the sign-in. */
  readonly status: number
  readonly code?: ErrorCode
  /** Name of the route, `_gateway` or `_unmatched`. */
  readonly route: string
  readonly steps: readonly Step[]
}

/** A header as the upstream would receive it; possible secrets are hidden. */
export interface ShownHeader {
  readonly name: string
  readonly value: string
}

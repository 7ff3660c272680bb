import type { Code } from '../errors.ts'

/** A request that is asked about; it never goes anywhere. */
export interface AskedRequest {
  readonly method: string
  /** In origin form, as it would be sent. */
  readonly target: string
  /** Name, value, name, value, as they would arrive. */
  readonly rawHeaders: readonly string[]
  /** Address of the other end of the connection. */
  readonly peer: string
}

export type StepName =
  | 'request'
  | 'cors'
  | 'route'
  | 'scheme'
  | 'principal'
  | 'policy'
  | 'limits'
  | 'upstream'

/** One step of the decision, in the order in which the gateway takes them; the last may be the one that refuses. */
export interface Step {
  readonly step: StepName
  readonly outcome: 'passed' | 'refused'
  /** In words, without any secret. */
  readonly detail: string
  /** The same for programs. */
  readonly facts: Readonly<Record<string, unknown>>
}

export interface Explanation {
  /** `answer`: the path is the gateway's own, no route has a say, and nothing in the head stands against it. */
  readonly decision: 'forward' | 'refuse' | 'answer'
  /** 200 where nothing stands against it, 204 for a preflight: what then comes back is for the upstream to say. */
  readonly status: number
  readonly code?: Code
  /** Name of the route, `_gateway` or `_unmatched`. */
  readonly route: string
  readonly steps: readonly Step[]
}

/** A header as the upstream would get it; what may be a secret is not told. */
export interface ShownHeader {
  readonly name: string
  readonly value: string
}

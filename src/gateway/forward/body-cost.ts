import { valuesOf } from '#http/request-head.ts'
import type { CostTerm } from '../routes/route.ts'
import { EventDataScanner } from './event-data.ts'
import { type FieldNode, fieldTree, JsonFieldScanner } from './json-fields.ts'

/** The fields of a route's answers that say how many units a request used. */
export interface BodyCost {
  readonly terms: readonly CostTerm[]
  readonly tree: FieldNode
}

/** The most units that one request can have used, by any field. */
export const unitsMax = 1_000_000_000

const jsonTypes = /^application\/(?:json|x-ndjson|jsonl|[\w.-]{1,64}\+json)$/

export function createBodyCost(terms: readonly CostTerm[]): BodyCost {
  return { terms, tree: fieldTree(terms.map(({ paths }) => paths)) }
}

/** Reads one body as it passes. */
export class BodyCostReader {
  readonly #terms: readonly CostTerm[]
  /** By term; undefined = not found. */
  readonly #found: (number | undefined)[] = []
  readonly #scanner: Pick<EventDataScanner, 'read'>

  constructor({ terms, tree }: BodyCost, isOfEvents: boolean) {
    this.#terms = terms
    const fields = new JsonFieldScanner(tree, (term, value) => {
      // No unit is ever given back.
      if (value >= 0) this.#found[term] = value
    })
    this.#scanner = isOfEvents ? new EventDataScanner(fields) : fields
  }

  read(chunk: Uint8Array): void {
    this.#scanner.read(chunk, 0, chunk.length)
  }

  /** The sum, rounded up, at most 1e9; undefined where the body has none of the fields so far. */
  get units(): number | undefined {
    if (this.#found.every((value) => value === undefined)) return undefined
    const sum = this.#terms.reduce(
      (total, { factor }, index) => total + (this.#found[index] ?? 0) * factor,
      0,
    )
    // The slack is for factors such as 0.1, whose products are a little more than they should be.
    return Math.min(unitsMax, Math.ceil(sum - 1e-6))
  }
}

/**
 * What reads the body of a response.
 * @returns undefined if it is neither JSON nor a stream of events, or is compressed
 */
export function bodyCostReaderFor(cost: BodyCost, headers: readonly string[]): BodyCostReader | undefined {
  const codings = valuesOf(headers, 'content-encoding').filter((coding) => !/^(?:identity)?$/i.test(coding))
  const type = valuesOf(headers, 'content-type').at(-1)?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const isOfEvents = type === 'text/event-stream'
  if (codings.length > 0 || !(isOfEvents || jsonTypes.test(type))) return undefined
  return new BodyCostReader(cost, isOfEvents)
}

import { fieldNameMemo } from '#http/message/name-table.ts'
import { fieldsIn, valuesOf } from '#http/request-head.ts'
import { memoizeBounded } from '#platform/memoize.ts'
import { foldHeaderName } from '#platform/text.ts'
import type { CostTerm } from '../routes/route.ts'
import { EventDataScanner } from './event-data.ts'
import { type FieldNode, fieldTree, JsonFieldScanner } from './json-fields.ts'

/** The field of a backend's response, or of its trailers, that says how many units the request used. */
interface CostField {
  /**
   * The units of the last such field; undefined where there is none or it is not a whole number from 0 to 1e9.
   * @param headers name, value, name, value
   */
  unitsIn(headers: readonly string[]): number | undefined
  /**
   * The fields without it, and without those whose names have the same letters and digits; nor does `Trailer` announce
   * any of them.
   */
  remove(headers: readonly string[]): readonly string[]
}

export function createCostField(fieldName: string): CostField {
  const lower = fieldName.toLowerCase()
  const plain = foldHeaderName(fieldName)
  const isAlias = memoizeBounded(fieldNameMemo, (name) => foldHeaderName(name) === plain)

  return {
    unitsIn: (headers) => {
      const value = valuesOf(headers, lower).at(-1)
      return value === undefined ? undefined : parseUnits(value)
    },
    remove: (headers) => {
      const kept: string[] = []
      for (const [name, received] of fieldsIn(headers)) {
        if (isAlias(name)) continue
        const value = name.toLowerCase() === 'trailer' ? withoutNames(received, isAlias) : received
        if (value !== '' || received === '') kept.push(name, value)
      }
      return kept
    },
  }
}

/** A list of names without some of them. */
function withoutNames(list: string, isRemoved: (name: string) => boolean): string {
  const names = list.split(',')
  const kept = names.filter((name) => !isRemoved(name.trim()))
  return kept.length === names.length ? list : kept.join(',').trim()
}

/** The last value of a list: several fields may have been combined into one on the way (RFC 9110 5.3). */
function parseUnits(value: string): number | undefined {
  const last = value.slice(value.lastIndexOf(',') + 1).trim()
  if (!/^\d{1,10}$/.test(last)) return undefined
  const units = Number(last)
  return units <= unitsMax ? units : undefined
}

/** How the response to one request says what it cost; both are undefined where a request is one unit. */
export interface CostSources {
  /** Removed from the response; undefined = none. */
  readonly costField: CostField | undefined
  /** undefined = the body says nothing. */
  readonly bodyCost: BodyCost | undefined
}

/**
 * The units of one response: those that its head says, or else its trailers, or else as much of its body as has
 * arrived; one if none of them says any.
 */
export class ResponseCost {
  readonly #sources: CostSources
  readonly #onUnits: (units: number) => void
  #body: BodyCostReader | undefined
  #isKnown = false

  /** @param onUnits called once */
  constructor(sources: CostSources, onUnits: (units: number) => void) {
    this.#sources = sources
    this.#onUnits = onUnits
  }

  /** @param headers of the head, or of the trailers */
  readFields(headers: readonly string[]): void {
    const units = this.#sources.costField?.unitsIn(headers)
    if (units !== undefined) this.#report(units)
  }

  readHead(headers: readonly string[]): void {
    this.readFields(headers)
    const { bodyCost } = this.#sources
    if (bodyCost !== undefined && !this.#isKnown) this.#body = bodyCostReaderFor(bodyCost, headers)
  }

  readBody(chunk: Uint8Array): void {
    this.#body?.read(chunk)
  }

  /** @param last the rest of the body, a character for each byte */
  readEnd(last: string, trailers: readonly string[]): void {
    if (last !== '') this.readBody(Buffer.from(last, 'latin1'))
    this.readFields(trailers)
  }

  end(): void {
    this.#report(this.#body?.units ?? 1)
  }

  #report(units: number): void {
    if (this.#isKnown) return
    this.#isKnown = true
    this.#onUnits(units)
  }
}

/** @returns undefined if the request is one unit, whatever its response says */
export function responseCostOf(
  sources: CostSources,
  onUnits: (units: number) => void,
): ResponseCost | undefined {
  const hasSource = sources.costField !== undefined || sources.bodyCost !== undefined
  return hasSource ? new ResponseCost(sources, onUnits) : undefined
}

/** The fields of a route's answers that say how many units a request used. */
interface BodyCost {
  readonly terms: readonly CostTerm[]
  readonly tree: FieldNode
}

/** The most units that one request can have used, by any field. */
const unitsMax = 1_000_000_000

const jsonTypes = /^application\/(?:json|x-ndjson|jsonl|[\w.-]{1,64}\+json)$/

export function createBodyCost(terms: readonly CostTerm[]): BodyCost {
  return { terms, tree: fieldTree(terms.map(({ paths }) => paths)) }
}

/** Reads one body as it passes. */
class BodyCostReader {
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

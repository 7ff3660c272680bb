import { fieldsIn, valuesOf } from '#http/request-head.ts'
import { memoizeBounded } from '#platform/memoize.ts'
import { foldHeaderName } from '#platform/text.ts'
import { type BodyCost, type BodyCostReader, bodyCostReaderFor, unitsMax } from './body-cost.ts'
import { fieldNameMemo } from './header-rules.ts'

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
        const value = name.toLowerCase() === 'trailer' ? namesBut(received, isAlias) : received
        if (value !== '' || received === '') kept.push(name, value)
      }
      return kept
    },
  }
}

/** The names of a list without some of them. */
function namesBut(list: string, isRemoved: (name: string) => boolean): string {
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

/** The units of one response: as its head says, else its trailers, else what has come of its body, else one. */
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
  read(headers: readonly string[]): void {
    const units = this.#sources.costField?.unitsIn(headers)
    if (units !== undefined) this.#report(units)
  }

  readHead(headers: readonly string[]): void {
    this.read(headers)
    const { bodyCost } = this.#sources
    if (bodyCost !== undefined && !this.#isKnown) this.#body = bodyCostReaderFor(bodyCost, headers)
  }

  readBody(chunk: Uint8Array): void {
    this.#body?.read(chunk)
  }

  /** @param last the rest of the body, a character for each byte */
  readEnd(last: string, trailers: readonly string[]): void {
    if (last !== '') this.readBody(Buffer.from(last, 'latin1'))
    this.read(trailers)
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

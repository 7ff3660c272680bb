import fc from 'fast-check'

/** Something that holds for every input, whatever it is. */
export interface Property {
  /** A whole sentence: what holds. */
  readonly name: string
  readonly holds: fc.IRawProperty<unknown, false>
}

/** @param name what holds. @param holds throws or returns false for an input that it does not hold for */
export function property<Input>(
  name: string,
  input: fc.Arbitrary<Input>,
  holds: (input: Input) => unknown,
): Property {
  // The cast is sound: a property is only checked, and makes its inputs itself.
  return { name, holds: fc.property(input, (one) => holds(one) !== false) as fc.IRawProperty<unknown, false> }
}

export interface Run {
  readonly seed: number
  readonly cases: number
}

/** @returns the smallest input found that it does not hold for, and how to have it again; undefined where it holds */
export function findCounterexample({ holds }: Property, { seed, cases }: Run): string | undefined {
  const details = fc.check(holds, { seed, numRuns: cases })
  return details.failed ? fc.defaultReportMessage(details) : undefined
}

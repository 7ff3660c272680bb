import fc from 'fast-check'

/** Something that holds for every input, whatever it is. */
export interface Property {
  /** A whole sentence: what holds. */
  readonly name: string
  readonly holds: fc.IRawProperty<unknown, false>
  /** Why so many inputs since it was last asked do not show that it holds; undefined where they do. */
  readonly tooFew?: (cases: number) => string | undefined
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

/**
 * What holds for those inputs that it has something to say about.
 * @param compares throws for an input that it does not hold for. @returns whether it has something to say about an input
 * @param leastShare of the inputs: with fewer it says too little to be believed
 */
export function propertyOfSome<Input>(
  name: string,
  input: fc.Arbitrary<Input>,
  compares: (input: Input) => boolean,
  leastShare: number,
): Property {
  let compared = 0
  const { holds } = property(name, input, (one) => {
    if (compares(one)) compared++
  })
  return {
    name,
    holds,
    tooFew: (cases) => {
      const count = compared
      compared = 0
      return count >= leastShare * cases ? undefined : `only ${count} of ${cases} inputs were compared`
    },
  }
}

export interface Run {
  readonly seed: number
  readonly cases: number
}

/** @returns the smallest input found that it does not hold for, and how to have it again; undefined where it holds */
export function findCounterexample({ holds, tooFew }: Property, { seed, cases }: Run): string | undefined {
  const details = fc.check(holds, { seed, numRuns: cases })
  return details.failed ? fc.defaultReportMessage(details) : tooFew?.(cases)
}

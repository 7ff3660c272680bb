/**
 * How much random tests try. A run of the tests is short, and the same each time: `FUZZ_SEED` makes another one, and
 * `FUZZ_TIMES` one that is as many times longer.
 */

/** @param usual without `FUZZ_SEED` */
export function seedFrom(usual: number): number {
  return Number(process.env.FUZZ_SEED ?? usual)
}

/** @param usual without `FUZZ_TIMES` */
export function roundsFrom(usual: number): number {
  return Math.ceil(usual * Number(process.env.FUZZ_TIMES ?? 1))
}

/**
 * For how long a subject is under load before it is measured. V8 goes on optimizing for the first 4 to 6 s: in the first
 * of them a request takes more than twice the CPU.
 */
const warmUpMs = 8_000

/** How many turns of this length warm a subject up. */
export function warmUpTurns(durationMs: number): number {
  return Math.ceil(warmUpMs / durationMs)
}

/** Blocks the event loop, as a long calculation or a suspended process does. */
export function standStill(forMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs)
}

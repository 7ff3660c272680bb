import type { Frame } from './profile.ts'

/** The share of the time that is spent in some files and in all that they call; 0 to 1. */
export function shareOf(root: Frame, files: readonly string[]): number {
  function usIn(frame: Frame): number {
    if (files.some((file) => frame.place.startsWith(`${file}:`))) return frame.totalUs
    return frame.callees.reduce((sum, callee) => sum + usIn(callee), 0)
  }
  return usIn(root) / root.totalUs
}

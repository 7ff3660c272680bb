import { isValidGrace } from '#accounts/account-keys.ts'
import { parseDurationMs } from '#config/units.ts'
import { UsageError } from './command.ts'

/**
 * The seconds of `--grace`.
 * @throws UsageError if the text is not a duration, or not an allowed grace period
 */
export function parseGraceSeconds(text: string): number {
  const seconds = (parseDurationMs(text) ?? Number.NaN) / 1_000
  if (!isValidGrace(seconds)) throw new UsageError('--grace must be from 0s to 30d, such as 24h')
  return seconds
}

import type { AllowedDecision, Principal } from '#identity/decision.ts'

/** The texts that are the same for every request of a caller. */
class CallerTexts {
  /** The lines for backends, and who wrote them: a decision may outlive the config that names the headers. */
  identityLines = ''
  identityWriter: ((principal: Principal) => string) | undefined = undefined
  /**
   * Members of a line in the access log, and the upstream in them. They are kept from the second line on, as many
   * callers send only one request: undefined = no line has been written, empty = one has.
   */
  logMembers: string | undefined = undefined
  logUpstream: string | undefined = undefined
}

/** The texts of the caller whom a decision is about, which are kept with it (hot). */
export function callerTextsOf(decision: AllowedDecision): CallerTexts {
  // The cast is sound: nothing else writes to it.
  const known = decision.kept as CallerTexts | undefined
  if (known !== undefined) return known
  const texts = new CallerTexts()
  decision.kept = texts
  return texts
}

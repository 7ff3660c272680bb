/** Consecutive wrong passwords of an account, since a known client signed in or a new password was set. */
export interface PasswordFailures {
  readonly total: number
  /** The failures of each known client, by its ID. */
  readonly ofClients: Readonly<Record<string, number>>
}

/**
 * At most 100 consecutive failures (NIST SP 800-63B 3.2.2). Unknown clients may only use a part of them, so that the
 * rest is left to known clients, each with a budget of its own: nobody else can lock users out of a browser that they
 * have used.
 */
export const passwordFailuresMax = { total: 100, byStrangers: 80, ofClient: 10 } as const

/** How many known clients are distinguished; further ones count as unknown. */
const clientsMax = 32

const none: PasswordFailures = { total: 0, ofClients: {} }

/**
 * Counts an attempt before its password is checked, so that concurrent attempts cannot exceed the limit.
 * @param client the ID of a known client; undefined = unknown, as is a client that has used up its budget
 * @returns undefined if the password must not be checked at all
 */
export function withAttempt(
  { total, ofClients }: PasswordFailures = none,
  client: string | undefined,
): PasswordFailures | undefined {
  const { total: totalMax, byStrangers, ofClient } = passwordFailuresMax
  if (client !== undefined && total < totalMax) {
    const own = ofClients[client] ?? 0
    const hasPlace = own > 0 || Object.keys(ofClients).length < clientsMax
    if (hasPlace && own < ofClient)
      return { total: total + 1, ofClients: { ...ofClients, [client]: own + 1 } }
  }
  return total < byStrangers ? { total: total + 1, ofClients } : undefined
}

/**
 * The failures without an attempt that was not a failure: its password was right, or was not checked.
 * @param client the client that it was counted for
 */
export function withoutAttempt(
  { total, ofClients }: PasswordFailures = none,
  client: string | undefined,
): PasswordFailures {
  const left = Math.max(0, total - 1)
  const own = client === undefined ? 0 : (ofClients[client] ?? 0)
  if (client === undefined || own === 0) return { total: left, ofClients }
  const { [client]: _, ...others } = ofClients
  return { total: left, ofClients: own > 1 ? { ...others, [client]: own - 1 } : others }
}

import type { DrillClient } from './client.ts'
import type { InstanceGroup } from './instance-group.ts'
import { sendRefresh } from './session-owners.ts'

/** A token that was stolen, and how that was found out. */
export interface TokenTheft {
  readonly phase: string
  readonly found: Promise<'at once' | 'next use' | 'missed'>
}

interface TheftOptions {
  readonly client: DrillClient
  readonly fleet: InstanceGroup
  readonly phase: string
  readonly graceMs: number
}

const pauseMs = 100
/** How much later than the grace a token comes again. */
const marginMs = 300

/**
 * Somebody has a copy of each token, and waits: the owner trades it for the next, which may take as long as the fault;
 * after the grace the copy is used.
 */
export function replayStolenTokens(options: TheftOptions, tokens: readonly string[]): readonly TokenTheft[] {
  return tokens.map((token) => ({ phase: options.phase, found: steal(options, token) }))
}

async function steal(options: TheftOptions, stolen: string): Promise<'at once' | 'next use' | 'missed'> {
  const owned = await refreshUntilAnswered(options, stolen)
  if (owned === undefined) return 'missed'
  await pause(options.graceMs + marginMs)
  const taken = await refreshUntilAnswered(options, stolen)
  if (taken === undefined)
    return (await refreshUntilAnswered(options, owned)) === undefined ? 'at once' : 'missed'
  // Both have the same token now: whoever comes second ends the session.
  await pause(options.graceMs + marginMs)
  if ((await refreshUntilAnswered(options, owned)) === undefined) return 'next use'
  await pause(options.graceMs + marginMs)
  return (await refreshUntilAnswered(options, taken)) === undefined ? 'next use' : 'missed'
}

/** @returns the next token; undefined where it is refused for good */
async function refreshUntilAnswered(
  { client, fleet }: TheftOptions,
  token: string,
): Promise<string | undefined> {
  for (;;) {
    const { status, answer } = await sendRefresh(client, fleet, token)
    if (status === 200) return String(answer.refreshToken)
    if (status === 401) return undefined
    await pause(pauseMs)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

import type { DrillClient } from './client.ts'
import type { InstanceGroup } from './instance-group.ts'
import { sendRefresh } from './session-owners.ts'

/** A stolen token, and how its reuse was detected. */
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
/** How much later than the grace a token is replayed. */
const marginMs = 300

/**
 * A thief has a copy of each token, and waits: the owner rotates it, which may take as long as the fault; after the
 * grace the copy is used.
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
  // Both have the same token now: the second use revokes the session.
  await pause(options.graceMs + marginMs)
  if ((await refreshUntilAnswered(options, owned)) === undefined) return 'next use'
  await pause(options.graceMs + marginMs)
  return (await refreshUntilAnswered(options, taken)) === undefined ? 'next use' : 'missed'
}

/** @returns the next token; undefined if it is finally rejected */
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

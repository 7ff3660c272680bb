import { storeUnavailable } from '../store-health.ts'
import type { CommandClient } from './command-client.ts'
import type { KeyNames } from './data-layout.ts'
import { changeCommands, loadScript } from './scripts.ts'

const findScript = loadScript('find-missing-rights')

/**
 * Redis undoes nothing of a script that fails half-way: a change would be made although it counts as refused, and
 * nobody would be told of it. So the user must be allowed all commands of such scripts before the first one is run.
 */
export function createRightsCheck({ ask }: Pick<CommandClient, 'ask'>, keys: KeyNames) {
  let isAllowed = false

  /** @throws GatehouseError `store-unavailable` if a right is missing */
  async function assertMayChange(): Promise<void> {
    if (isAllowed) return
    const args = [keys.channel, ...changeCommands]
    // The cast is sound: the script returns nothing else.
    const missing = (await ask((client) => findScript.run(client, [[keys.storeId], args]))) as string[]
    if (missing.length > 0) throw storeUnavailable('refused', lacking(missing, keys.channel))
    isAllowed = true
  }

  return assertMayChange
}

function lacking(missing: readonly string[], channel: string): string {
  const rights = missing.map((command) => `+${command}`).join(' ')
  return `the user of Redis lacks the right to ${rights}, or to the channel ${channel}: nothing was changed`
}

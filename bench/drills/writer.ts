import type { CreatedAccount } from '../../src/accounts/accounts.ts'
import type { DrillClient } from './client.ts'
import type { InstanceGroup } from './instance-group.ts'

/** Somebody who resets keys all the time, and remembers what was answered. */
export interface Writer {
  /** Ends, and looks whether every answered reset is there. */
  stop(client: DrillClient): Promise<{ readonly answered: number; readonly missing: number }>
}

const pauseMs = 20
const writtenBefore = 5

/** Resolves once the first are answered: what is answered before an outage must be there after it, too. */
export async function startWriter(
  fleet: InstanceGroup,
  accounts: readonly CreatedAccount[],
): Promise<Writer> {
  const answered = new Map<string, { readonly spent: string; readonly current: string }>()
  let isOn = true
  let resets = 0
  const begun = Promise.withResolvers<void>()
  const walk = fleet.operate(async (operator) => {
    for (let turn = 0; isOn; turn++) {
      const made = accounts[turn % accounts.length]
      if (!made) return
      const { id } = made.account
      const spent = answered.get(id)?.current ?? made.secretKey
      try {
        const current = await operator.keys.resetSecretKey(id, 0)
        answered.set(id, { spent, current })
        resets++
        if (resets === writtenBefore) begun.resolve()
      } catch {
        // Not answered: it may be there or not, and either is right. This account is left alone from now on.
        answered.delete(id)
        accounts = accounts.filter((other) => other !== made)
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  })

  await Promise.race([begun.promise, walk])
  return {
    stop: async (client) => {
      isOn = false
      await walk
      let missing = 0
      for (const { spent, current } of answered.values()) {
        for (const { url } of fleet.instances) {
          if ((await client.get(url, { SecretKey: current })) !== 200) missing++
          if ((await client.get(url, { SecretKey: spent })) !== 401) missing++
        }
      }
      return { answered: resets, missing }
    },
  }
}

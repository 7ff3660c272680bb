import type { CreatedAccount } from '#accounts/accounts.ts'
import type { DrillClient } from './client.ts'
import type { InstanceGroup } from './instance-group.ts'

/** A client that resets keys throughout, and records the responses. */
export interface Writer {
  /** Stops, and checks that every acknowledged reset was saved. */
  stop(client: DrillClient): Promise<{ readonly answered: number; readonly missing: number }>
}

const pauseMs = 20
const writtenBefore = 5

/** Resolves once the first are acknowledged: what was acknowledged before an outage must still be there after it. */
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
        const current = await operator.defaultKeys.resetSecretKey(id, 0)
        answered.set(id, { spent, current })
        resets++
        if (resets === writtenBefore) begun.resolve()
      } catch {
        // No response: it may have been saved or not, and either is correct. This account is not used from now on.
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

import type { CreatedAccount } from '#accounts/accounts.ts'
import type { DrillClient } from './client.ts'
import type { InstanceGroup } from './instance-group.ts'

/** Clients cached by every instance, sending requests throughout, half with keys and half with tokens. */
export interface BackgroundLoad {
  /** `failed`: responses other than 200, with the statuses in `others`; `broken`: the connection ended instead. */
  stop(): Promise<{
    readonly answered: number
    readonly failed: number
    readonly broken: number
    readonly others: readonly number[]
  }>
}

const pauseMs = 5

export async function startBackgroundLoad(
  client: DrillClient,
  { instances }: InstanceGroup,
  accounts: readonly CreatedAccount[],
): Promise<BackgroundLoad> {
  let isOn = true
  let answered = 0
  let failed = 0
  let broken = 0
  const others = new Set<number>()
  const people = await Promise.all(
    accounts.map(async (account, index) => {
      const { url } = instances[index % instances.length] ?? { url: '' }
      return { url, headers: await credentialOf(client, url, account, index) }
    }),
  )
  for (const { url, headers } of people) {
    if ((await client.get(url, headers)) !== 200) throw new Error('somebody of the crowd is not let in')
  }
  const walks = people.map(async ({ url, headers }) => {
    while (isOn) {
      const status = await client.get(url, headers)
      if (status === 200) answered++
      else if (status === 0) broken++
      else {
        failed++
        others.add(status)
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  })
  return {
    stop: async () => {
      isOn = false
      await Promise.all(walks)
      return { answered, failed, broken, others: [...others] }
    },
  }
}

async function credentialOf(
  client: DrillClient,
  url: string,
  { secretKey, apiKey }: CreatedAccount,
  index: number,
): Promise<Readonly<Record<string, string>>> {
  // Two of three instances in turn would otherwise have one kind alone.
  if (index % 4 < 2) return { SecretKey: secretKey }
  const { body } = await client.post(`${url}/api/v1/accounts/access-token`, {
    SecretKey: secretKey,
    APIKey: apiKey,
  })
  return { Authorization: `Bearer ${body.JwtToken}` }
}

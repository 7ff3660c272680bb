import type { DrillClient } from './client.ts'
import type { InstanceGroup } from './instance-group.ts'

/** How long after its revocation a key is still tried. */
const watchedMs = 700

interface Revocation {
  readonly secretKey: string
  /** Resolves once it was answered. */
  revoke(): Promise<unknown>
}

/**
 * Revokes a key that every instance has cached, as in production.
 * @returns for each instance how long after the answer it was still accepted, in milliseconds
 */
export async function watchUntilRefused(
  { instances }: Pick<InstanceGroup, 'instances'>,
  client: Pick<DrillClient, 'get'>,
  { secretKey, revoke }: Revocation,
): Promise<readonly number[]> {
  const headers = { SecretKey: secretKey }
  const statuses = await Promise.all(instances.map(({ url }) => client.get(url, headers)))
  if (statuses.some((status) => status !== 200)) throw new Error(`a new key got ${statuses}`)
  let answeredAt = Number.POSITIVE_INFINITY
  const watches = instances.map(async ({ url }) => {
    let lastAccepted = 0
    while (performance.now() - answeredAt < watchedMs) {
      const sentAt = performance.now()
      const status = await client.get(url, headers)
      if (status === 200 && sentAt > answeredAt) lastAccepted = sentAt - answeredAt
      if (status === 401 && sentAt - answeredAt > 100) break
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    return lastAccepted
  })
  await revoke()
  answeredAt = performance.now()
  return Promise.all(watches)
}

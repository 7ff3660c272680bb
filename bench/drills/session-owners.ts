import { until } from '../../test/setup/net.ts'
import type { DrillClient } from './client.ts'
import type { InstanceGroup } from './instance-group.ts'

const pauseMs = 100

/** An owner of a session that refreshes throughout, and retries with the same token if there is no response. */
interface Owner {
  token: string
  refreshes: number
  refused: number
  /** When the token was first tried, and when the last one was issued. */
  triedAt: number
  givenAt: number
  longestMs: number
  /** The code that ended the session. */
  lost: string | undefined
}

export interface SessionOwners {
  /** Waits until a condition holds for all. @throws Error that names the owners for which it does not, and why */
  until(what: string, holds: (owner: Readonly<Owner>) => boolean, withinMs: number): Promise<void>
  /** Whether all got a token after a time, or have lost their session. */
  allSince(at: number): boolean | undefined
  stop(since: number): Promise<{
    readonly refreshes: number
    readonly refused: number
    readonly lost: readonly string[]
    /** The longest time that a token was retried until it was accepted. */
    readonly longestMs: number
    /** How many got no token since then. */
    readonly unserved: number
  }>
}

/** Sends a refresh to any instance, or to the one whose turn it is. */
export async function sendRefresh(
  client: DrillClient,
  { instances }: InstanceGroup,
  token: string,
): Promise<{ readonly status: number; readonly answer: Record<string, unknown> }> {
  const instance = instances[Math.floor(Math.random() * instances.length)]
  const { status, body } = await client.post(`${instance?.url}/api/v1/accounts/refresh-token`, { token })
  return { status, answer: body }
}

export function startSessionOwners(
  client: DrillClient,
  fleet: InstanceGroup,
  tokens: readonly string[],
): SessionOwners {
  let isOn = true
  const startedAt = performance.now()
  const owners = tokens.map((token): Owner => {
    const times = { triedAt: startedAt, givenAt: startedAt, longestMs: 0 }
    return { token, refreshes: 0, refused: 0, ...times, lost: undefined }
  })

  async function live(owner: Owner): Promise<void> {
    while (isOn && owner.lost === undefined) {
      const { status, answer } = await sendRefresh(client, fleet, owner.token)
      const now = performance.now()
      if (status === 200) {
        owner.token = String(answer.refreshToken)
        owner.refreshes++
        owner.longestMs = Math.max(owner.longestMs, now - owner.triedAt)
        owner.givenAt = now
      } else if (status === 503 || status === 0) owner.refused++
      else owner.lost = String(answer.code)
      await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())))
      if (status === 200) owner.triedAt = performance.now()
    }
  }

  const lives = owners.map(live)
  const sum = (of: (owner: Owner) => number) => owners.reduce((total, owner) => total + of(owner), 0)
  return {
    until: async (what, holds, withinMs) => {
      await until(what, () => owners.every(holds) || undefined, withinMs).catch((cause: unknown) => {
        const others = owners.filter((owner) => !holds(owner))
        const fates = others.map(
          ({ refreshes, refused, lost }) => `${refreshes} + ${refused} ${lost ?? '503'}`,
        )
        throw new Error(`${what}: not ${others.length} of ${owners.length}: ${fates.join(', ')}`, { cause })
      })
    },
    allSince: (at) => owners.every(({ givenAt, lost }) => givenAt > at || lost !== undefined) || undefined,
    stop: async (since) => {
      isOn = false
      await Promise.all(lives)
      return {
        refreshes: sum(({ refreshes }) => refreshes),
        refused: sum(({ refused }) => refused),
        lost: owners.flatMap(({ lost }) => lost ?? []),
        longestMs: Math.max(...owners.map(({ longestMs }) => longestMs)),
        unserved: sum(({ givenAt }) => Number(givenAt <= since)),
      }
    },
  }
}

import type { Test } from 'tap'
import { ask, connectHttp2 } from '../http/h2/ask.ts'

/** How the requests of clients ended that do nothing wrong. */
export interface VictimResults {
  /** How many, by method, status and the code of a reset. */
  readonly counts: ReadonlyMap<string, number>
  /** Answers to another request. */
  readonly crossed: readonly string[]
}

/** Clients on connections of their own, one request after the other: the backend answers each with its nonce. */
export async function runVictims(
  t: Test,
  url: string,
  count: number,
  isOver: () => boolean,
): Promise<VictimResults> {
  const counts = new Map<string, number>()
  const crossed: string[] = []
  let nonces = 0
  async function run(method: 'GET' | 'POST'): Promise<void> {
    const session = await connectHttp2(t, url)
    while (!isOver()) {
      const nonce = `victim-${nonces++}`
      const body = method === 'POST' ? { body: 'x'.repeat(1_000) } : {}
      const answer = await ask(session, `/public/${nonce}`, { headers: { ':method': method }, ...body })
      const isWhole = answer.resetCode === 0
      const key = `${method} ${answer.status}${isWhole ? '' : `, reset with ${answer.resetCode}`}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
      if (answer.status === 200 && isWhole && answer.body !== nonce)
        crossed.push(`${nonce}: ${answer.body.slice(0, 100)}`)
    }
  }
  await Promise.all(Array.from({ length: count }, (_, index) => run(index % 2 === 0 ? 'GET' : 'POST')))
  return { counts, crossed }
}

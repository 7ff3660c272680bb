import { attacks } from '../../test/fuzz/hostile-clients.ts'
import { Random } from '../../test/fuzz/random.ts'
import { openSession } from '../../test/http/h2/frames.ts'
import { type SoakContext, sleep } from './clients.ts'

/** Between two attacks of one client: others are to be served meanwhile. */
const pauseMs = 20
/** How many attacks one connection makes at the most. */
const attacksMax = 20

/**
 * A client of HTTP/2 that attacks the upstream connections it shares with others, one connection after another: requests
 * that are cancelled, answers that nobody takes, floods of frames, malformed requests.
 * @returns how many attacks it made
 */
export async function runHostileClient({ urls, isOver }: SoakContext, seed: number): Promise<number> {
  const random = new Random(seed)
  let count = 0
  while (!isOver()) {
    const session = await openSession(random.of(urls)).catch(() => undefined)
    if (session === undefined) await sleep(pauseMs)
    let first = 1
    for (let left = attacksMax; session && left > 0 && !session.socket.destroyed && !isOver(); left--) {
      first = attacks[random.of(Object.keys(attacks))]?.(session, first, random) ?? first
      count++
      await sleep(pauseMs)
    }
    session?.socket.destroy()
  }
  return count
}

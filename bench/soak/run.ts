import { parseArgs } from 'node:util'
import type { Report } from '../drills/figures.ts'
import type { Scope } from '../scope.ts'
import { soak } from './soak.ts'

const help = `npm run drill -- soak [--seconds N] [--seed N]

Mixed load in HTTP/1.1 and HTTP/2, from clients and to targets, over two instances with two workers each, on a real
Redis, beside clients of HTTP/2 that attack the connections they share with others, while faults are injected: Redis and
targets paused and killed, workers killed, an instance stopped, reloads, resets, clients that leave. Checks the identity
and the body of every answer. Ends by itself.

  --seconds N   how long, from 10 to 7200; default 1800
  --seed N      the order of the faults; default: another each time, printed`

/** Ends the process where the arguments are not as the help says. */
export async function runSoak(scope: Scope, report: Report, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '1800' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return console.log(help)
  const [seconds, seed] = [Number(values.seconds), Number(values.seed)]
  if (!Number.isInteger(seconds) || seconds < 10 || seconds > 7_200 || !Number.isInteger(seed)) {
    console.error(help)
    process.exit(2)
  }
  await soak(scope, report, { seconds, seed })
}

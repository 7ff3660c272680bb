import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { type Subject, startBench } from './subjects.ts'

/**
 * CPU time per request of the gateway beside that of a bare node:http answer, in one run: all take turns, so
 * the speed of the machine cancels out of their ratios. `npm run bench -- --help` tells the options.
 */

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '32' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log('npm run bench -- [--rounds 5] [--seconds 4] [--connections 32]')
  process.exit()
}

async function ask<Answer>(child: ChildProcess, question: object): Promise<Answer> {
  child.send(question)
  // The cast is sound: it is what the process answers to that question.
  const [answer] = (await once(child, 'message')) as [Answer]
  return answer
}

/** CPU microseconds that one request costs. */
async function measure(maker: ChildProcess, { child, load }: Subject): Promise<number> {
  const before = await ask<{ cpuUs: number }>(child, {})
  const { answers } = await ask<{ answers: number }>(maker, {
    ...load,
    connections: Number(values.connections),
    durationMs: Number(values.seconds) * 1_000,
  })
  const after = await ask<{ cpuUs: number }>(child, {})
  return (after.cpuUs - before.cpuUs) / answers
}

function spread(figures: readonly number[], digits: number): string {
  const sorted = figures.toSorted((a, b) => a - b)
  const [least = 0, median = 0, most = 0] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
  return `${median.toFixed(digits).padStart(7)}  (${least.toFixed(digits)} to ${most.toFixed(digits)})`
}

const { subjects, load, close } = await startBench()
const rounds: number[][] = []
for (let round = 0; round <= Number(values.rounds); round++) {
  const figures: number[] = []
  for (const subject of subjects) figures.push(await measure(load, subject))
  // The first one warms up.
  if (round > 0) rounds.push(figures)
  process.stderr.write(`\rround ${round} of ${values.rounds}`)
}
process.stderr.write('\n')

console.log('Median (least to most) of CPU us a request; as a multiple of the bare answer; a second and core')
for (const [index, { name }] of subjects.entries()) {
  const own = rounds.map((figures) => figures[index] ?? 0)
  const ratios = rounds.map((figures) => (figures[index] ?? 0) / (figures[0] ?? 1))
  const rates = own.map((cpuUs) => 1_000_000 / cpuUs)
  console.log(
    `${name.padEnd(25)}${spread(own, 1).padEnd(28)}${spread(ratios, 2).padEnd(26)}${spread(rates, 0)}`,
  )
}
await close()

import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'

/**
 * CPU time per request of the gateway beside that of a bare node:http answer, in one run: the two take turns,
 * so the speed of the machine cancels out of their ratio. `npm run bench -- --help` tells the options.
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

interface Subject {
  readonly name: string
  readonly child: ChildProcess
  readonly url: string
  readonly path: string
  readonly header: string
}

/** On a core of its own where the system can do that, the load and the backend on another. */
const pins = spawnSync('taskset', ['--version']).status === 0

async function start(
  file: string,
  core: number,
  args: readonly string[] = [],
): Promise<[ChildProcess, Record<string, string>]> {
  const child = fork(new URL(file, import.meta.url), [...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  if (pins) spawnSync('taskset', ['-a', '-c', '-p', String(core), String(child.pid)])
  const [ready] = file === 'load.ts' ? [{}] : ((await once(child, 'message')) as [Record<string, string>])
  return [child, ready]
}

async function ask<Answer>(child: ChildProcess, question: object): Promise<Answer> {
  child.send(question)
  const [answer] = (await once(child, 'message')) as [Answer]
  return answer
}

async function measure(load: ChildProcess, { child, url, path, header }: Subject): Promise<number> {
  const before = await ask<{ cpuUs: number }>(child, {})
  const { answers } = await ask<{ answers: number }>(load, {
    ...{ url, path, header },
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

const [backend, { url: backendUrl = '' }] = await start('backend.ts', 1)
const [bare, { url: bareUrl = '' }] = await start('bare.ts', 0)
const [gateway, ready] = await start('gateway.ts', 0, [backendUrl])
const [load] = await start('load.ts', 1)
const { url = '', secretKey, accessToken } = ready
const subjects: readonly Subject[] = [
  { name: 'bare node:http answer', child: bare, url: bareUrl, path: '/', header: '' },
  { name: 'gateway, public route', child: gateway, url, path: '/public', header: '' },
  { name: 'gateway, secret key', child: gateway, url, path: '/any', header: `SecretKey: ${secretKey}\r\n` },
  {
    name: 'gateway, bearer token',
    child: gateway,
    url,
    path: '/any',
    header: `Authorization: Bearer ${accessToken}\r\n`,
  },
]

const rounds: number[][] = []
for (let round = 0; round <= Number(values.rounds); round++) {
  const figures: number[] = []
  for (const subject of subjects) figures.push(await measure(load, subject))
  // The first one warms up.
  if (round > 0) rounds.push(figures)
  process.stderr.write(`\rround ${round} of ${values.rounds}`)
}
process.stderr.write('\n')

console.log(
  `CPU per request in us, and as a multiple of the bare answer in the same round: median (least to most)`,
)
for (const [index, { name }] of subjects.entries()) {
  const own = rounds.map((figures) => figures[index] ?? 0)
  const ratios = rounds.map((figures) => (figures[index] ?? 0) / (figures[0] ?? 1))
  console.log(`${name.padEnd(24)}${spread(own, 1).padEnd(30)}${spread(ratios, 2)}`)
}
for (const child of [load, gateway, bare, backend]) child.disconnect()

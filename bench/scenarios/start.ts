import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../test/setup/net.ts'
import { redisCommand, startRedis } from '../../test/setup/redis.ts'
import { cpuUsOf, rssBytesOf } from '../process-tree.ts'
import { cores, startProgram } from '../processes.ts'
import { inScope, type Scope } from '../scope.ts'
import { buildProgram, serveCommand } from '../subjects/built-program.ts'
import type { Contestant, Figures, Scenario } from './scenario.ts'

const settleMs = 2_000
const idleMsMin = 3_000

/** One process of those that the scenario starts. */
interface StartOptions {
  /** In a folder of its own, where it creates the file `ready` once it is ready. */
  readonly command: (folder: string) => readonly string[]
  readonly redisPort: number | undefined
  readonly idleMs: number
}

export const start: Scenario = {
  summary: 'Start and idle: what a gateway costs without requests',
  figures: {
    readyMs: { title: 'ready after ms', digits: 0 },
    cpuMs: { title: 'CPU ms until then', digits: 0 },
    rssMib: { title: 'idle MiB', digits: 1 },
    idleCpuMs: { title: 'idle CPU ms a second', digits: 1 },
    commands: { title: 'Redis commands a second', digits: 1 },
  },
  compared: 'cpuMs',
  skipsWarmUp: true,
  yardsticks: ['bare'],
  note:
    'A new process for each run, of the program as users run it (`dist/`, as in the package and the image), on an ' +
    'existing store and with what Node has kept of the compiled code since an earlier run; `bare` is a `node:http` ' +
    'server and nothing else. Idle: from two seconds after it is ready, by when it has collected the garbage of its ' +
    'start, in resident memory, of which the pages of the Node binary are about half, and CPU time as the scheduler ' +
    'counts it. The commands of scripts count too: a reading of the change log is one command that runs five.',
  async open({ scope, options, gateways, upstreamUrl }) {
    const redis = await startRedis(scope)
    const idleMs = Math.max(idleMsMin, options.durationMs)
    const bare: StartOptions = { command: bareCommand, redisPort: undefined, idleMs }
    const found: Contestant[] = [{ name: 'bare', measure: () => measure(bare) }]
    for (const { label, checkout } of gateways) {
      buildProgram(checkout)
      for (const port of [undefined, redis.port]) {
        const config = writeConfig(scope, upstreamUrl, port)
        const command = (folder: string) => serveCommand(checkout, config, join(folder, 'ready'))
        await fillCompileCache(command)
        const name = `${label}: ${port === undefined ? 'SQLite' : 'Redis'}`
        found.push({ name, measure: () => measure({ command, redisPort: port, idleMs }) })
      }
    }
    return found
  },
}

/** Node keeps compiled code when a process ends in order, which those that are measured do not. */
function fillCompileCache(command: StartOptions['command']): Promise<void> {
  return inScope(async (scope) => {
    const child = await startUntilReady(scope, command)
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  })
}

async function startUntilReady(scope: Scope, command: StartOptions['command']) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const child = startProgram(scope, { core: cores.subject, command: command(folder) })
  await until('it is ready', () => existsSync(join(folder, 'ready')))
  return child
}

function writeConfig(scope: Scope, upstreamUrl: string, redisPort: number | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'gateway.yaml')
  writeFileSync(join(folder, 'sealing.key'), Buffer.alloc(32, 7).toString('base64'))
  const config = {
    listen: { port: 0 },
    ops: { port: 0 },
    upstreams: { backend: { targets: [{ url: upstreamUrl }] } },
    routes: [{ name: 'any', path: '/', auth: 'any', upstream: 'backend' }],
    keys: { sealingKey: { file: 'sealing.key' } },
    store:
      redisPort === undefined
        ? { sqlite: { path: 'gatehouse.db' } }
        : { driver: 'redis', redis: { url: `redis://127.0.0.1:${redisPort}` } },
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}

function bareCommand(folder: string): readonly string[] {
  const ready = JSON.stringify(join(folder, 'ready'))
  const listening = `() => require('node:fs').writeFileSync(${ready}, '')`
  const program = `require('node:http').createServer().listen(0, '127.0.0.1', ${listening})`
  return [process.execPath, '-e', program]
}

function measure({ command, redisPort, idleMs }: StartOptions): Promise<Figures> {
  return inScope(async (scope) => {
    const startedAt = performance.now()
    const { pid } = await startUntilReady(scope, command)
    const readyMs = performance.now() - startedAt
    const cpuMs = cpuUsOf([pid]) / 1_000
    await sleep(settleMs)
    const [cpuBefore, commandsBefore] = [runMsOf(pid), await commandsOf(redisPort)]
    const idleFrom = performance.now()
    await sleep(idleMs)
    const seconds = (performance.now() - idleFrom) / 1_000
    return {
      readyMs,
      cpuMs,
      rssMib: rssBytesOf([pid]) / 1_048_576,
      idleCpuMs: (runMsOf(pid) - cpuBefore) / seconds,
      commands: ((await commandsOf(redisPort)) - commandsBefore) / seconds,
    }
  })
}

/** What all threads of a process have run: in nanoseconds, unlike the time that is counted in ticks (proc(5)). */
function runMsOf(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`)
  const nanoseconds = tasks.map((task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
  )
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6
}

/** Those that Redis has processed so far, those of scripts and this question itself included; 0 = there is no Redis. */
async function commandsOf(port: number | undefined): Promise<number> {
  if (port === undefined) return 0
  return Number(/total_commands_processed:(\d+)/.exec(await redisCommand(port, 'INFO stats'))?.[1])
}

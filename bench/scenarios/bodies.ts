import type { Bench } from '../bench.ts'
import { cpuUsOf, rssBytesOf } from '../process-tree.ts'
import type { Subject } from '../subjects/subject.ts'
import { createContestants } from './contestants.ts'
import { writeRequest } from './requests.ts'
import type { Figures, Scenario } from './scenario.ts'

const mebibyte = 1_048_576
export const bodyBytes = 100 * mebibyte
const sampleMs = 20
const peers = ['haproxy', 'nginx', 'http-proxy', 'relay'] as const

export const bodyScenario = {
  figures: {
    mibPerSecond: { title: 'MiB a second', digits: 0 },
    cpuMs: { title: 'CPU ms a body', digits: 0 },
    growthMib: { title: 'memory grows by MiB', digits: 1 },
  },
  compared: 'mibPerSecond',
  yardsticks: ['haproxy'],
  note:
    'One body on one connection. Load and upstream share a core and often limit the throughput, so compare the ' +
    'CPU time too. `memory grows by`: the maximum of resident memory while the body passes, minus its value ' +
    'before.',
} satisfies Partial<Scenario>

export const down: Scenario = {
  ...bodyScenario,
  summary: '100 MiB down',
  open: (bench) =>
    createContestants(bench, peers, (subject, authorization) => {
      const head = writeRequest(`GET /any/down/${bodyBytes}`, authorization)
      return measureBody(subject, () => send(bench, subject, head, 0))
    }),
}

export const up: Scenario = {
  ...bodyScenario,
  summary: '100 MiB up',
  open: (bench) =>
    createContestants(bench, peers, (subject, authorization) => {
      const fields = { ...authorization, 'Content-Length': String(bodyBytes) }
      const head = writeRequest('POST /any/up', fields)
      return measureBody(subject, () => send(bench, subject, head, bodyBytes))
    }),
}

function send(bench: Bench, { url }: Subject, head: string, sentBytes: number) {
  return bench.load<'body'>({ kind: 'body', url, head, sentBytes })
}

/** What one body of `bodyBytes` costs a subject. @param pass sends it, and says how long it took */
export async function measureBody(
  { pids }: Pick<Subject, 'pids'>,
  pass: () => Promise<{ readonly elapsedMs: number }>,
): Promise<Figures> {
  const cpuBefore = cpuUsOf(pids)
  const rssBefore = rssBytesOf(pids)
  let rssMost = rssBefore
  const sampler = setInterval(() => {
    rssMost = Math.max(rssMost, rssBytesOf(pids))
  }, sampleMs)
  const { elapsedMs } = await pass().finally(() => clearInterval(sampler))
  return {
    mibPerSecond: (bodyBytes / mebibyte) * (1_000 / elapsedMs),
    cpuMs: (cpuUsOf(pids) - cpuBefore) / 1_000,
    growthMib: (rssMost - rssBefore) / mebibyte,
  }
}

import type { Bench } from '../bench.ts'
import { cpuUsOf } from '../process-tree.ts'
import type { Subject } from '../subjects/subject.ts'
import { type Authorization, createContestants, withConnections } from './contestants.ts'
import { writeRequest } from './requests.ts'
import type { Figures, Scenario } from './scenario.ts'

const connections = 500
const peers = ['haproxy', 'haproxy-no-delay', 'nginx', 'http-proxy', 'relay'] as const
const costField = { 'usage.prompt_tokens': 1, 'usage.completion_tokens': 3 }

export const events: Scenario = {
  summary: `Server-sent events to ${connections} listeners, ten a second each`,
  figures: {
    cpuUs: { title: 'CPU µs an event', digits: 1 },
    p50Ms: { title: 'p50 ms late', digits: 2 },
    p99Ms: { title: 'p99 ms late', digits: 2 },
    perSecond: { title: 'events a second', digits: 0 },
  },
  compared: 'cpuUs',
  yardsticks: ['haproxy', 'haproxy-no-delay', 'relay', 'gatehouse'],
  note:
    'Events of 220 bytes, as language models send them; with `costField`, those are read for their usage. ' +
    'All listeners get an event at the same time, so the last of each burst is late behind every subject: compare ' +
    'the subjects. HAProxy holds small data back for up to 200 ms, and so sends two events in one write; with ' +
    '`option http-no-delay` it does not (`haproxy-no-delay`). `relay` is what two sockets of Node cost: a read and ' +
    'a write, on which the kernel spends two thirds of the time in a profile of the gateway.',
  async open(bench) {
    // As many streams as there are listeners, and enough that one client may have them all.
    const config = withConnections(bench, 2 * connections)
    const route = { name: 'any', path: '/any', auth: 'any', upstream: 'backend', costField }
    const measure = (subject: Subject, authorization: Authorization) => hear(bench, subject, authorization)
    const costing = await createContestants(bench, [], measure, { ...config, routes: [route] })
    return [
      ...(await createContestants(bench, peers, measure, config)),
      ...costing.map(({ name, measure }) => ({ name: `${name}: costField`, measure })),
    ]
  },
}

async function hear(bench: Bench, { url, pids }: Subject, authorization: Authorization): Promise<Figures> {
  const request = writeRequest('GET /any/events', authorization)
  await bench.load<'listen'>({ kind: 'listen', url, request, connections })
  const before = cpuUsOf(pids)
  const report = await bench.load<'hear'>({ kind: 'hear', durationMs: bench.options.durationMs })
  const cpuUs = cpuUsOf(pids) - before
  await bench.load<'close'>({ kind: 'close' })
  return {
    cpuUs: cpuUs / report.events,
    p50Ms: report.p50Ms,
    p99Ms: report.p99Ms,
    perSecond: (report.events * 1_000) / report.elapsedMs,
  }
}

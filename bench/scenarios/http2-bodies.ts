import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runH2Body } from '../load/h2load.ts'
import { bodyBytes, bodyScenario, measureBody } from './bodies.ts'
import { createContestants } from './contestants.ts'
import { assertH2load } from './http2.ts'
import type { Scenario } from './scenario.ts'

const peers = ['haproxy-h2'] as const

const shared = {
  ...bodyScenario,
  yardsticks: ['haproxy-h2'],
  note:
    'One body on one stream of one connection without TLS, by h2load with windows of 16 MiB; the upstream speaks ' +
    `HTTP/1.1. ${bodyScenario.note}`,
} satisfies Partial<Scenario>

export const http2Down: Scenario = {
  ...shared,
  summary: '100 MiB down over HTTP/2',
  open: (bench) => {
    assertH2load()
    return createContestants(bench, peers, (subject, headers) => {
      const url = `${subject.url}/any/down/${bodyBytes}`
      return measureBody(subject, () => runH2Body({ url, headers }))
    })
  },
}

export const http2Up: Scenario = {
  ...shared,
  summary: '100 MiB up over HTTP/2',
  open: (bench) => {
    assertH2load()
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
    bench.scope.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const bodyFile = join(folder, 'body')
    writeFileSync(bodyFile, Buffer.alloc(bodyBytes, 'x'))
    return createContestants(bench, peers, (subject, headers) =>
      measureBody(subject, () => runH2Body({ url: `${subject.url}/any/up`, headers, bodyFile })),
    )
  },
}

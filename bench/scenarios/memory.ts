import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import type { DistinctCallers, DistinctKind } from '../load/distinct-requests.ts'
import { peakRssBytesOf, rssBytesOf } from '../process-tree.ts'
import { inScope } from '../scope.ts'
import { buildProgram } from '../subjects/built-program.ts'
import { fillStore } from '../subjects/fill-store.ts'
import {
  readHeap,
  startRememberingGateway,
  tokenSigner,
  writeConfig,
} from '../subjects/remembering-gateway.ts'
import type { Contestant, Figures, Scenario } from './scenario.ts'

/** Of each kind: five times what the largest cache of the gateway keeps. */
const requestsEach = 500_000
/** Each has a session, whose tokens are sent. */
const accountCount = 1_000
const settleMs = 2_000
/** Made-up keys wait for a reading of the change log: with fewer connections, the machine would wait too. */
const connections = 64

/** In this order. */
const kinds: readonly (readonly [kind: DistinctKind, count: number])[] = [
  ['unknown-keys', requestsEach],
  ['valid-keys', accountCount],
  ['tokens', requestsEach],
  ['forged-tokens', requestsEach / 5],
  ['paths', requestsEach],
  ['rated-addresses', requestsEach],
]

const mib = 1_048_576

export const memory: Scenario = {
  summary: 'Memory after 2,000,000 distinct keys, tokens, paths and addresses',
  figures: {
    rssMib: { title: 'MiB at the end', digits: 0 },
    peakMib: { title: 'most MiB', digits: 0 },
    startMib: { title: 'MiB before', digits: 0 },
    heapMib: { title: 'heap', digits: 0 },
    usedMib: { title: 'of it in use', digits: 0 },
    externalMib: { title: 'buffers', digits: 0 },
    seconds: { title: 'seconds', digits: 0 },
  },
  compared: 'peakMib',
  yardsticks: [],
  note:
    'One after the other 500,000 made-up keys, 500,000 valid tokens of 1,000 accounts, 100,000 forged ones, 500,000 ' +
    'paths and, on a route with a rate, 500,000 addresses; each of them from another address, IPv4 and IPv6 in turn. ' +
    'A new process for each run, of the program as users run it (`dist/`), with the default limits. `MiB at the end` and `most MiB` are resident memory, of ' +
    'which some 60 MiB are pages of the Node binary; the most is what the kernel has seen (VmHWM). The limit is 250 ' +
    'MiB. The load signs the tokens, with HS256.',
  load: { by: 'own', connections },
  skipsWarmUp: true,
  async open(bench) {
    return bench.gateways.map(({ label, checkout }): Contestant => {
      buildProgram(checkout)
      return { name: label, measure: () => measure(bench, checkout) }
    })
  },
}

function measure(bench: Bench, checkout: string): Promise<Figures> {
  return inScope(async (scope) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
    scope.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const config = writeConfig(folder, bench.upstreamUrl)
    const callersFile = join(folder, 'callers.json')
    const callers = await fillStore(checkout, config, accountCount)
    writeFileSync(callersFile, JSON.stringify({ ...tokenSigner, callers } satisfies DistinctCallers))
    const { pid, url, opsUrl } = await startRememberingGateway(scope, { folder, checkout, config })
    await sleep(settleMs)
    const startMib = rssBytesOf([pid]) / mib
    const begin = performance.now()
    for (const [what, count] of kinds) {
      await bench.load<'distinct'>({ kind: 'distinct', url, what, callersFile, count, connections })
    }
    const seconds = (performance.now() - begin) / 1_000
    await sleep(settleMs)
    const [rssMib, peakMib] = [rssBytesOf([pid]) / mib, peakRssBytesOf([pid]) / mib]
    const { total, used, external } = await readHeap(opsUrl)
    return {
      rssMib,
      peakMib,
      startMib,
      heapMib: total / mib,
      usedMib: used / mib,
      externalMib: external / mib,
      seconds,
    }
  })
}

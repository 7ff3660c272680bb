import { readFileSync, writeFileSync } from 'node:fs'
import { type Result, readResults } from './results.ts'
import { scenarios } from './scenarios/scenarios.ts'
import { tableOf } from './table.ts'

/** bench/README.md, made from bench/results: `npm run bench:page` writes it, `-- --check` fails when it is stale. */

const file = new URL('README.md', import.meta.url)

export function writePage(): void {
  writeFileSync(file, makePage(readResults()))
}

/** Whether the page says what the results say. */
export function isPageFresh(): boolean {
  return readFileSync(file, 'utf8') === makePage(readResults())
}

export function makePage(results: ReadonlyMap<string, Result>): string {
  const sections = Object.keys(scenarios).map((name) => sectionOf(name, results.get(name)))
  return `${introduction}\n${sections.join('\n')}`
}

function sectionOf(name: string, result: Result | undefined): string {
  if (!result) return `## ${name}\n\nNot measured: \`npm run bench -- --scenario ${name}\`.\n`
  const { summary, note, at, machine, missing, connections, seconds, load } = result
  const runs = Object.values(result.contestants)[0]?.length ?? 0
  const versions = Object.entries(machine.versions).map(([program, version]) => `${program} ${version}`)
  const how = [
    `\`${name}\``,
    `${at.slice(0, 10)}, ${machine.processor}, ${machine.cores} cores, load average before ${machine.loadAverage.toFixed(1)}`,
    versions.join(', '),
    `${runs} runs of ${seconds} s, ${connections} connections, load by ${load}`,
    ...(missing.length > 0 ? [`not there: ${missing.join(', ')}`] : []),
  ]
  return `## ${summary}\n\n${tableOf(result)}\n\n${note}\n\n${how.join(' · ')}\n`
}

const introduction = `# What forwarding costs

Made from \`bench/results/\` by \`npm run bench:page\`; \`npm run bench\` measures anew and writes both. Absolute figures
are those of one machine on one day; the ratios travel. They are taken within a run, in which everybody has a turn,
and every figure is a median with the least and the most of the runs.

**The rules.** The subject has one core, load and upstream have another (\`taskset\`, where there is one); all have the
same upstream, which answers without parsing. CPU time is what the kernel reports for the subject's processes, those of
a helper service included (user and system), divided by the answers. What else the machine has to do matters little to
it, and much to latency and throughput: look at the load average. The closed loops are made by wrk where it is on PATH,
else by \`bench/load/\`. Where \`% of its core\` is far below 100, something else was the limit, and the subject, which
then wakes up for less work at a time, looks more expensive than it is. The gateway is the program itself, as
\`gatehouse serve\` starts it, on SQLite (token scenarios on Redis), with its access log off, as in the peers. The bench
runs on Linux only: it reads /proc.

**The subjects.** Peers take part when their program is on PATH (\`apt-get install haproxy nginx wrk\`; HAProxy 2.5 or
newer). Their configurations are in \`bench/subjects/\`.

| subject | what it does |
|---|---|
| \`bare\` | a \`node:http\` server that answers by itself and forwards nothing |
| \`haproxy\` | HAProxy as a plain proxy: one thread, no authentication |
| \`haproxy-jwt\` | HAProxy that verifies the ES256 signature of each token with \`jwt_verify\`, every time |
| \`nginx\` | nginx as a plain proxy: one worker, bodies streamed both ways, no authentication |
| \`nginx-auth\` | nginx that asks a small Node service about each request (\`auth_request\`); it verifies the token every time, and its CPU time counts |
| \`nginx-auth-cached\` | the same, with the answers of the service kept by token for ten minutes |
| \`http-proxy\` | @fastify/http-proxy on Fastify and undici, no authentication |
| \`relay\` | two \`node:net\` sockets for each client, bytes passed on unread: no HTTP, no back-pressure |
| \`gatehouse\` | this program: authenticates each request with a token or key, and forwards the identity |

**The ratios.** \`×\` compares, run by run, with the subject it names: the CPU time a request or event, the p99 of the
added latency, the memory of a WebSocket; less is better. For long bodies it is the throughput, and more is better. An
added latency below zero is noise: it is a difference, and the run without the proxy was the slower one. Ratios to it
say nothing.

\`npm run bench -- --help\` lists the options; \`--against FOLDER\` measures another checkout in the same runs. \`npm run
flame\` writes a flame graph of the gateway under load.
`

if (import.meta.main) {
  if (!process.argv.includes('--check')) writePage()
  else if (!isPageFresh()) {
    console.error('stale: bench/README.md; run: npm run bench:page')
    process.exitCode = 1
  }
}

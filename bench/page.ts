import { readFileSync, writeFileSync } from 'node:fs'
import { type Result, readResults } from './results.ts'
import { scenarios } from './scenarios/scenarios.ts'
import { tableOf } from './table.ts'

/** bench/README.md, generated from bench/results: `node bench/page.ts` writes it, `-- --check` fails when it is stale. */

const file = new URL('README.md', import.meta.url)

export function writePage(): void {
  writeFileSync(file, makePage(readResults()))
}

/** Whether the page is up to date with the results. */
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

\`node bench/page.ts\` makes this page from \`bench/results/\`; \`npm run bench\` measures again and writes both.
Absolute figures hold for one machine on one day; ratios can be compared across machines. Each ratio is taken within one
run, in which every subject has a turn, and every figure is the median of the runs, with their minimum and maximum.

**The rules.** The subject has one core, load and upstream share another (by \`taskset\`, if it is installed). All
subjects have the same upstream, which answers without parsing. CPU time is the user and system time that the kernel
reports for the subject's processes, including those of a helper service, divided by the number of answers. Other work
on the machine affects it little, but latency and throughput strongly: look at the load average. The load of closed
loops comes from wrk if it is on PATH, else from \`bench/load/\`; that of HTTP/2 always from h2load. Where \`% of its core\`
is far below 100, the subject was not the bottleneck; it then wakes up for less work at a time, and looks more expensive
than it is. Every subject has its turns for 8 s before the first that counts: V8 compiles a program for its first 4 to
6 s of load, and in the first second a request takes more than twice the CPU. The gateway is the program itself, as
\`gatehouse serve\` starts it, on SQLite (token scenarios on Redis), without access log, like the peers.
The bench runs on Linux only: it reads /proc.

**The subjects.** Peers take part when their program is on PATH (\`apt-get install haproxy nginx wrk nghttp2-client\`;
HAProxy 2.5 or newer). Their configurations are in \`bench/subjects/\`.

| subject | what it does |
|---|---|
| \`bare\` | a \`node:http\` server that answers requests itself and forwards nothing |
| \`haproxy\` | HAProxy as a plain proxy: one thread, no authentication |
| \`haproxy-tls\`, \`nginx-tls\` | the plain ones with TLS towards clients |
| \`haproxy-jwt\` | HAProxy that verifies the ES256 signature of each token with \`jwt_verify\`, every time |
| \`nginx\` | nginx as a plain proxy: one worker, bodies streamed both ways, no authentication |
| \`nginx-auth\` | nginx that asks a small Node service about each request (\`auth_request\`); the service verifies the token every time, and its CPU time is included |
| \`nginx-auth-cached\` | the same, with the answers of the service cached by token for ten minutes |
| \`http-proxy\` | @fastify/http-proxy on Fastify and undici, no authentication |
| \`relay\` | two \`node:net\` sockets for each client, bytes passed on unread: no HTTP, no back-pressure |
| \`minimal-proxy\`, \`minimal-proxy-tls\` | requests and answers in one piece each, forwarded on kept connections with one line replaced and nothing checked: the least that a proxy in Node does |
| \`bare-h2\`, \`bare-h2-tls\` | a \`node:http2\` server that answers requests itself, with the cheapest calls it has |
| \`relay-h2\`, \`relay-h2-tls\` | \`node:http2\` before kept connections of HTTP/1.1, with the same request each time and nothing parsed |
| \`haproxy-h2\`, \`haproxy-h2-tls\`, \`haproxy-grpc\`, \`nginx-h2-tls\` | the plain ones with HTTP/2 towards clients, \`-grpc\` towards the upstream too |
| \`gatehouse\` | this program: authenticates each request with a token or key, and forwards the identity |

**The ratios.** \`×\` is the ratio to the named subject, run by run. It compares the CPU time per request or event, the
p99 of the added latency, or the memory per WebSocket; less is better. For long bodies it compares the throughput, and
more is better. Added latency is a difference; below zero it is noise, as the run without the proxy was the slower one.
Ratios to such a figure are meaningless.

\`npm run bench -- --help\` lists the options; \`--against FOLDER\` measures another checkout in the same runs. \`npm run
flame\` writes a flame graph of the gateway under load.
`

if (import.meta.main) {
  if (!process.argv.includes('--check')) writePage()
  else if (!isPageFresh()) {
    console.error('stale: bench/README.md; run: node bench/page.ts')
    process.exitCode = 1
  }
}

import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { rewrite } from '../gateway/support/reload.ts'
import { startGateway } from '../setup/gateway.ts'
import { run } from './run.ts'

interface Header {
  readonly name: string
  readonly value: string
}

const targets = [{ url: 'http://127.0.0.1:1' }]

t.test('explain names the headers that are set for an upstream, but shows no secret', async (t) => {
  const { configFile } = await startGateway(t)
  writeFileSync(join(dirname(configFile), 'backend.key'), 'hunter2')
  const set = {
    'X-Backend': { file: 'backend.key' },
    Authorization: 'Basic hunter3',
    'X-Fixed': 'as it is',
    'X-Odd': 'Bearer hunter4',
  }
  rewrite(configFile, { upstreams: { backend: { targets, headers: { set, remove: ['X-Debug'] } } } })
  const sent = ['-H', 'x_backend: theirs', '-H', 'X-Debug: 1', '-H', 'X-Other: 2']
  const { stdout } = await run(t, ['explain', 'GET', '/public', ...sent, '--config', configFile, '--json'])
  const { steps } = JSON.parse(stdout) as {
    readonly steps: readonly { readonly facts: { readonly headers?: readonly Header[] } }[]
  }
  const headers = steps.at(-1)?.facts.headers ?? []
  const lines = headers.map(({ name, value }) => `${name}: ${value}`)
  t.strictSame(
    lines.filter((line) => !/^(?:Host|X-Forwarded|X-Request-Id)/.test(line)),
    ['X-Other: 2', 'X-Backend: [secret]', 'Authorization: [secret]', 'X-Fixed: as it is', 'X-Odd: [secret]'],
  )
  t.notMatch(stdout, /hunter|theirs|X-Debug/)

  const shown = await run(t, ['config', 'show', '--config', configFile])
  t.match(shown.stdout, /headers\.set\.X-Backend.*\[secret\]/)
  t.match(shown.stdout, /headers\.set\.X-Fixed.*as it is/)
  t.match(shown.stdout, /headers\.set\.Authorization.*\[secret\]/)
  t.notMatch(shown.stdout, /hunter|backend\.key/)
  const asJson = await run(t, ['config', 'show', '--config', configFile, '--json'])
  t.notMatch(asJson.stdout, /hunter|backend\.key/)
})

t.test('explain says where the units of a request come from', async (t) => {
  const { configFile } = await startGateway(t)
  const route = { name: 'models', path: '/v1', upstream: 'backend', auth: 'none', costHeader: 'X-Cost' }
  const costField = { 'usage.prompt_tokens | usage.input_tokens': 1, 'usage.completion_tokens': 3 }
  const routes = [{ ...route, costField, includeUsage: true, quotaCounts: 'units' }]
  rewrite(configFile, { upstreams: { backend: { targets } }, routes })
  const explained = (...args: readonly string[]) =>
    run(t, ['explain', 'GET', '/v1/x', '-H', 'Accept-Encoding: br', '--config', configFile, ...args])
  const { stdout } = await explained()
  t.match(
    stdout,
    'its units come from the header X-Cost, usage.prompt_tokens | usage.input_tokens in the body, usage.completion_tokens times 3 in the body; otherwise it is one; if its body asks for a stream, it gets stream_options.include_usage; quotas count its units',
  )
  t.match((await explained('--json')).stdout, /"Accept-Encoding",\s*"value": "identity"/)
})

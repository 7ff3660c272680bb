import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { run, serve, tempFolder } from './cli/run.ts'
import { startBackend } from './setup/backend.ts'

// needs: curl

const readme = readFileSync('README.md', 'utf8')
const gatehouse = 'npm run -s gatehouse --'

/** The blocks of a language below a heading, as lines without their comments. */
function blocksBelow(heading: string, language: string): readonly (readonly string[])[] {
  const section = readme.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return [...section.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(([, text = '']) =>
    text
      .replaceAll(/\\\n\s*/g, '')
      .trim()
      .split('\n'),
  )
}

/** The words of a command that needs no shell. */
function wordsOf(line: string): readonly string[] {
  if (!line.startsWith(gatehouse)) throw new Error(`no command of ours: ${line}`)
  return line.slice(gatehouse.length).trim().split(' ')
}

t.test('the own backend of the README works as it stands there', async (t) => {
  const folder = tempFolder(t)
  const [config = []] = blocksBelow('Your own backend', 'yaml')
  const [commands = [], calls = []] = blocksBelow('Your own backend', 'sh')
  t.ok(config.length <= 10, 'in ten lines')
  writeFileSync(join(folder, 'my-gateway.yaml'), `${config.join('\n')}\n`)
  const [check = '', create = '', explain = '', start = ''] = commands
  t.match(await run(t, wordsOf(check), { cwd: folder }), { status: 0, stderr: '' })
  const created = await run(t, [...wordsOf(create), '--json'], { cwd: folder })
  const { secretKey, apiKey } = created.json() as { readonly secretKey: string; readonly apiKey: string }

  const explained = await run(t, wordsOf(explain), { cwd: folder })
  t.match(explained, { status: 0, stdout: /"orders".*refuse: 401 credentials-missing\n$/s })

  const backend = await startBackend(t)
  const [, ...serveArgs] = wordsOf(start)
  const settings = ['listen.port=0', 'ops.port=0', `upstreams.orders.targets=[{url: "${backend.url}"}]`]
  const { url } = await serve(t, [...serveArgs, ...settings.flatMap((setting) => ['--set', setting])], {
    cwd: folder,
  })
  let accessToken = ''
  async function call(line: string): Promise<string> {
    const filled = line
      .replace('http://localhost:8080', url)
      .replace('gate_sk_…', secretKey)
      .replace('gate_ak_…', apiKey)
      .replace('eyJ…', accessToken)
    const { stdout } = await promisify(execFile)('sh', ['-c', filled.replace('curl', 'curl -sS -i')])
    return stdout
  }
  const [withKey = '', forTokens = '', withToken = ''] = calls
  t.match(await call(withKey), /^HTTP\/1\.1 200/)
  const tokens = await call(forTokens)
  t.match(tokens, /^HTTP\/1\.1 200/)
  accessToken = /"JwtToken":"([^"]+)"/.exec(tokens)?.[1] ?? ''
  t.match(await call(withToken), /^HTTP\/1\.1 200/)
  t.match(await call(withToken.replace('/orders', '/orders/refunds')), /^HTTP\/1\.1 200/, 'she is an Admin')
  t.match(await call('curl http://localhost:8080/orders'), /^HTTP\/1\.1 401/)
  t.match(await call('curl http://localhost:8080/healthz'), /^HTTP\/1\.1 200/)
})

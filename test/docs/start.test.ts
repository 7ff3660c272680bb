import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { createCommandFolder } from '../cli/command-folder.ts'
import { serve } from '../cli/run.ts'
import { freePort, until } from '../setup/net.ts'
import { runProgram, startProgram } from './programs.ts'
import { snippetsOf } from './snippets.ts'

// needs: curl

const snippets = snippetsOf('docs/start.md')

/** A block of a step. */
function block(step: string, language: string, index = 0): string {
  const found = snippets.filter(
    ({ heading, ...each }) => heading.startsWith(step) && each.language === language,
  )
  return found[index]?.text ?? ''
}

t.test('the four steps work in their order', async (t) => {
  const [backendPort, port] = [await freePort(), await freePort()]
  const here = (text: string) => text.replaceAll(':3000', `:${backendPort}`).replaceAll('8080', `${port}`)
  const folder = createCommandFolder(t, {
    'server.mjs': block('1.', 'js').replace('3000', `${backendPort}`),
    'gateway.yaml': here(block('2.', 'yaml')),
  })
  mkdirSync(join(folder, 'data'))
  const settings = {
    GATEHOUSE_CONFIG: 'gateway.yaml',
    GATEHOUSE__LISTEN__PORT: `${port}`,
    GATEHOUSE__OPS__PORT: '0',
    GATEHOUSE__PUBLICURL: `http://localhost:${port}`,
  }
  const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, ...settings }
  /** The lines of a block, with the keys of blocks before. */
  const sh = (text: string, keys = '') =>
    runProgram(['sh', '-ec', `${keys}\n${here(text)}`], { cwd: folder, env })
  const keyLine = block('2.', 'sh', 3).split('\n')[0] ?? ''

  await sh(block('2.', 'sh', 0))
  startProgram(t, [process.execPath, 'server.mjs'], { cwd: folder })
  t.equal(block('2.', 'sh', 1), 'node server.mjs\n')
  t.equal(block('2.', 'sh', 2), 'gatehouse serve\n')
  const gateway = await serve(t, [], { cwd: folder, env: settings })
  await until('the backend listens', () => fetch(`http://127.0.0.1:${backendPort}`).catch(() => undefined))

  const called = await sh(block('2.', 'sh', 3))
  t.match(
    called,
    /HTTP\/1\.1 401 .*credentials-missing.*"path":"\/orders\/7","id":"\w+","role":"User".*role-forbidden/s,
  )
  const promoted = await sh(block('2.', 'sh', 4), keyLine)
  t.match(promoted, /role-forbidden.*"path":"\/orders\/refunds","id":"\w+","role":"Admin"/s)

  t.match(await sh(block('3.', 'sh', 0)), /"path":"\/orders\/7".*secret-key-invalid/s)
  await reloadWith(block('3.', 'yaml'))
  const limited = async () => sh(block('3.', 'sh', 1), keyLine)
  t.match(
    await until('the limit holds', async () => {
      const said = await limited()
      return said.includes('429') ? said : undefined
    }),
    /RateLimit-Policy: "rate";q=3;w=60.*HTTP\/1\.1 429 /s,
  )

  await reloadWith(block('4.', 'yaml'))
  t.match(await sh(block('4.', 'sh')), /http:\/\/localhost:\d+\/portal\/\S+/)
  const visit = `curl -i http://localhost:8080/orders/7 -H 'Accept: text/html' -H 'Sec-Fetch-Mode: navigate'`
  const led = await until('a visit is led to the sign-in', async () => {
    const answer = await sh(visit)
    return answer.includes('HTTP/1.1 303') ? answer : undefined
  })
  t.match(led, /^Location: \S*\/portal\//im)

  /** The config of before, with what a step changes. */
  async function reloadWith(text: string): Promise<void> {
    const file = join(folder, 'gateway.yaml')
    const before = parse(readFileSync(file, 'utf8')) as object
    writeFileSync(file, stringify({ ...before, ...(parse(here(text)) as object) }))
    gateway.child.kill('SIGHUP')
  }
})

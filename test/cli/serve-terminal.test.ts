import t, { type Test } from 'tap'
import { until } from '../setup/net.ts'
import { type OnTerminal, startOnTerminal } from '../setup/pty.ts'
import { program, start } from './run.ts'
import { createWorkspace } from './workspace.ts'

function serveOnTerminal(
  t: Test,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): OnTerminal {
  const { config, folder } = createWorkspace(t)
  const words = [process.execPath, program, 'serve', '--config', config, ...args]
  return startOnTerminal(t, words, { cwd: folder, env })
}

async function urlOn(terminal: OnTerminal): Promise<string> {
  await terminal.shows(/listening.*pid=\S*\d\s/)
  return (
    /listening .*?\burl=(http:[^\s\u001b]+)/.exec(terminal.screen().replaceAll(/\u001b\[\d+m/g, ''))?.[1] ??
    ''
  )
}

t.test('the log on a terminal is text in colours, of workers too', async (t) => {
  for (const workers of ['1', '2']) {
    const terminal = serveOnTerminal(t, ['--set', `listen.workers=${workers}`])
    const url = await urlOn(terminal)
    t.equal((await fetch(`${url}/hello`)).status, 401)
    await terminal.shows(/GET \/hello \u001b\[33m401\u001b\[39m [\d.]+ ms/)
    t.notMatch(terminal.screen(), /\{"level"/)
    terminal.type('\u0003')
    t.equal(await terminal.ended, 0, 'Ctrl-C stops it in order')
  }
})

t.test('NO_COLOR and a dumb terminal get text without colours', async (t) => {
  for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
    const terminal = serveOnTerminal(t, [], env)
    await urlOn(terminal)
    t.notMatch(terminal.screen(), /\u001b/)
    t.match(terminal.screen(), /Z INFO {2}listening version=/)
  }
})

t.test('log.format json is JSON on a terminal too', async (t) => {
  const terminal = serveOnTerminal(t, ['--set', 'log.format=json'])
  await terminal.shows(/\{"level":"info".*"msg":"listening"\}/)
})

t.test('a pipe gets JSON, whatever FORCE_COLOR says, unless log.format is pretty', async (t) => {
  const { config, folder } = createWorkspace(t)
  const env = { FORCE_COLOR: '1' }
  const json = start(t, ['serve', '--config', config], { cwd: folder, env })
  await until('a line', () => json.output.stdout.includes('"msg":"listening"') || undefined)
  t.notMatch(json.output.stdout, /\u001b/)
  const pretty = start(t, ['serve', '--config', config, '--set', 'log.format=pretty'], { cwd: folder, env })
  await until('a line', () => pretty.output.stdout.includes('listening') || undefined)
  t.match(pretty.output.stdout, /\u001b\[32mINFO/)
})

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { cloudEventText } from '#accounts/events/event-message.ts'
import { eventTypes, eventTypesOf } from '#accounts/events/event-types.ts'
import { createCommandFolder } from '../cli/command-folder.ts'
import { configOf } from '../cli/workspace.ts'
import { startGateway } from '../setup/gateway.ts'
import { freePort, until } from '../setup/net.ts'
import { snippetsOf } from './snippets.ts'

// needs: bash

function blockOf(language: string): string {
  const block = snippetsOf('docs/events.md').find((snippet) => snippet.language === language)
  if (!block) throw new Error(`no ${language} in docs/events.md`)
  return block.text
}

t.test('the receiver of the documentation accepts events of a gateway', async (t) => {
  // Within the project, where the library is found.
  const folder = mkdtempSync(join(import.meta.dirname, 'receiver-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'receiver.mjs'), blockOf('js'))
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  writeFileSync(join(folder, 'secret'), secret)
  const port = await freePort()
  const receiver = spawn(process.execPath, [join(folder, 'receiver.mjs')], {
    env: { ...process.env, HOOK_SECRET: secret, PORT: String(port) },
  })
  t.teardown(() => receiver.kill())
  let printed = ''
  receiver.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  await until('it listens', () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => undefined,
    ),
  )
  const events = [
    {
      url: `http://127.0.0.1:${port}/`,
      secret: { file: join(folder, 'secret') },
      types: ['account.created'],
    },
  ]
  const gateway = await startGateway(t, { config: { events } })
  await gateway.createAccount({ email: 'ada@example.com' })
  await until('it prints the event', () => printed === 'account.created ada@example.com\n' || undefined)
})

t.test('the event of the documentation is what the gateway makes of such an entry', async (t) => {
  const shown = JSON.parse(blockOf('json'))
  const account = { id: '018f3c5e', email: 'ada@example.com' }
  const entry = {
    at: Date.parse(shown.time),
    actor: { kind: 'account', channel: 'portal', ...account, address: '203.0.113.7' },
    action: 'secret-key-revoked',
    target: account,
    details: { name: 'ci', graceSeconds: 0 },
  } as const
  t.ok(eventTypesOf(entry).includes(shown.type))
  const message = { id: shown.id, type: shown.type, entry }
  t.strictSame(JSON.parse(cloudEventText(message, shown.source)), shown)
})

t.test('every type of event is in the documentation', async (t) => {
  const page = readFileSync('docs/events.md', 'utf8')
  for (const type of eventTypes) t.ok(page.includes(`\`${type}\``), type)
})

t.test('the lines that make a secret and try the receiver work as they stand', async (t) => {
  const folder = createCommandFolder(t, { 'config/gateway.yaml': configOf({}) })
  const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
  const child = spawn('bash', ['--norc', '-e', '-c', `${blockOf('sh')}\necho "$HOOK_SECRET"`], {
    cwd: folder,
    env,
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  const status = await new Promise((resolve) => child.on('exit', resolve))
  t.equal(status, 0)
  t.match(printed, /There are no receivers.*\nwhsec_[\w+/]{43}=\n$/s)
})

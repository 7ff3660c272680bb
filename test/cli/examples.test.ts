import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { allCommands } from '#cli/main.ts'
import { createKey, digestOf } from '#platform/secrets/keys.ts'
import { makeCertificate } from '../setup/certificates.ts'
import { startMailServer } from '../setup/mail-server.ts'
import { createCommandFolder } from './command-folder.ts'
import { run, serve } from './run.ts'
import { configOf } from './workspace.ts'

// needs: bash

const email = 'ada@example.com'
const people = 'email,firstName\ncyd@example.com,Cyd\n'
const digest = Buffer.from(digestOf(createKey('secretKey', 'elsewhere', 'old'))).toString('hex')

const digests = `account,digest,name\n${email},${digest},old\n`

const files: Readonly<Record<string, string | Uint8Array>> = {
  'my-gateway.yaml': configOf({ listen: { port: 0 } }),
  'people.csv': people,
  'people.jsonl': '{"email":"dan@example.com"}\n',
  'people.jsonl.gz': gzipSync('{"email":"eve@example.com"}\n'),
  'digests.csv': digests,
  'accounts.yaml': `accounts: [{ email: ${email}, keys: [{ name: ci }] }]`,
  'digests.csv.gz': gzipSync(digests),
  'client.pem': makeCertificate(undefined, 'DNS:laptop').cert,
  'password.txt': 'correct horse battery\n',
}

/** What an example needs that an empty store does not have. */
const preparations: Readonly<Record<string, string>> = {
  'signing-keys retire':
    'export KID=$(gatehouse signing-keys rotate --json | grep -o \'"kid": *"[^"]*\' | cut -d\\" -f4)',
  'subjects unblock': 'gatehouse subjects block corp 248289761001',
  'keys rotate': `gatehouse keys create ${email} --name ci`,
  'keys revoke': `gatehouse keys create ${email} --name ci`,
  'store restore': 'gatehouse store backup gatehouse.backup; gzip -k gatehouse.backup; rm data/gatehouse.db*',
}

/** Commands whose examples begin without an account. */
const beginEmpty: readonly string[] = ['accounts create', 'init']

/** A folder as somebody has it who follows the examples, with `gatehouse` on PATH. */
async function createFolder(t: Test, command: string): Promise<string> {
  const folder = createCommandFolder(t, files)
  if (command !== 'init') writeFileSync(join(folder, 'config/gateway.yaml'), inConfigFolder)
  if (!beginEmpty.includes(command)) await run(t, ['accounts', 'create', '--email', email], { cwd: folder })
  return folder
}

const { port: mailPort } = await startMailServer(t)

const inConfigFolder = configOf({
  mail: { host: '127.0.0.1', port: mailPort, security: 'none', from: 'gatehouse@example.com' },
  issuers: [{ name: 'corp', issuer: 'https://127.0.0.1:1', audience: 'orders' }],
  keys: { sealingKey: { file: '../data/sealing.key' } },
  store: { sqlite: { path: '../data/gatehouse.db' } },
})

const commands = await allCommands()

for (const { name, examples } of commands.filter((command) => command.name !== 'serve')) {
  t.test(`every example of ${name} works as it stands in the help`, async (t) => {
    t.ok(examples.length > 0)
    for (const line of examples) {
      t.ok(line.includes(`gatehouse ${name}`), 'it is an example of this command')
      const folder = await createFolder(t, name)
      const script = ['set -e', 'set -o pipefail', preparations[name] ?? '', line].join('\n')
      const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
      const work = promisify(execFile)('bash', ['--norc', '-c', script], { cwd: folder, env })
      const failure = await work.then(
        () => undefined,
        (error: unknown) => String(error),
      )
      t.equal(failure, undefined, line)
    }
  })
}

t.test('every example of serve starts a gateway', async (t) => {
  const examples = commands.find(({ name }) => name === 'serve')?.examples ?? []
  t.ok(examples.length > 0)
  for (const line of examples) {
    const folder = await createFolder(t, 'serve')
    const args = line.split(' ').slice(2)
    const ports = ['--set', 'listen.port=0', '--set', 'ops.port=0']
    const { child, ended } = await serve(t, [...args, ...ports], { cwd: folder })
    child.kill('SIGTERM')
    t.equal((await ended).status, 0, line)
  }
})

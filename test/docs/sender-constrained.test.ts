import { symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { run, tempFolder } from '../cli/run.ts'
import { startBoth } from '../setup/both.ts'
import { makeCertificate } from '../setup/certificates.ts'
import { startGateway } from '../setup/gateway.ts'
import { freePort } from '../setup/net.ts'
import { runProgram } from './programs.ts'
import { snippetsOf } from './snippets.ts'

const snippets = snippetsOf('docs/sender-constrained.md')

t.test('the client of the page gets and uses a token that is bound to its key', async (t) => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const options = snippets.find(({ language }) => language === 'yaml')?.text ?? ''
  const { backend, gateway } = await startBoth(t, {
    config: {
      // The cast is sound: the test of the configs has checked it.
      ...(parse(options) as object),
      publicUrl: url,
      listen: { port },
      routes: [{ name: 'api', path: '/api', upstream: 'backend', auth: 'bearer' }],
    },
  })
  const { account, apiKey, secretKey } = await gateway.createAccount()
  const home = tempFolder(t)
  symlinkSync(resolve('node_modules'), join(home, 'node_modules'))
  const program = snippets.find(({ language }) => language === 'js')?.text ?? ''
  writeFileSync(join(home, 'client.mjs'), program.replaceAll('http://localhost:8080', url))
  const printed = await runProgram([process.execPath, 'client.mjs'], {
    cwd: home,
    env: { API_KEY: apiKey, KEY: secretKey },
  })
  t.equal(printed.trim(), '200')
  t.equal(backend.last().headers['x-user-id'], account.id)
})

t.test('the command of the page gives an account its certificate', async (t) => {
  const gateway = await startGateway(t)
  const { account } = await gateway.createAccount({ email: 'ada@example.com' })
  const cwd = tempFolder(t)
  writeFileSync(join(cwd, 'client.pem'), makeCertificate(t, 'DNS:laptop').cert)
  const line = snippets.find(({ language }) => language === 'sh')?.text.trim() ?? ''
  const [, ...args] = line.split(' ')
  const created = await run(t, [...args, '--config', gateway.configFile], { cwd })
  t.equal(created.status, 0, created.stderr)
  const keys = await gateway.operate(({ secretKeys }) => secretKeys.list(account.id))
  t.match(keys.at(-1), { name: 'laptop', isImported: true })
})

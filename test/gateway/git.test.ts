import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { git, startGitBackend } from './support/git-backend.ts'

const route = { name: 'git', path: '/git', upstream: 'backend', stripPrefix: true, maxBody: 'unlimited' }

/** A bare repository of some megabytes that takes pushes, a gateway before it, and an account. */
async function start(t: Test, accept: readonly string[] = ['SecretKey']) {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-git-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const work = join(root, 'work')
  await git(root, 'init', '-q', '-b', 'main', work)
  mkdirSync(join(work, 'small'))
  for (let index = 0; index < 200; index++)
    writeFileSync(join(work, 'small', `${index}.txt`), `file ${index}\n`)
  writeFileSync(join(work, 'large.bin'), randomBytes(6 * 1_048_576))
  await git(root, '-C', work, 'add', '.')
  await git(root, '-C', work, 'commit', '-q', '-m', 'first')
  await git(root, 'clone', '-q', '--bare', work, join(root, 'repo.git'))
  await git(root, '-C', join(root, 'repo.git'), 'config', 'http.receivepack', 'true')
  const backend = await startGitBackend(t, root)
  const gateway = await startGateway(t, {
    backend: backend.url,
    config: {
      routes: [{ ...route, auth: 'any' }],
      keys: { sealingKey: { file: 'sealing.key' }, accept },
    },
  })
  return { root, backend, gateway, url: `${gateway.url}/git/repo.git` }
}

for (const scheme of ['SecretKey', 'Authorization: Bearer']) {
  t.test(`git clones and pushes megabytes through the gateway with ${scheme}`, async (t) => {
    const { root, backend, gateway, url } = await start(t)
    const created = await gateway.createAccount()
    const { JwtToken } = await gateway.tokens(created)
    const header =
      scheme === 'SecretKey' ? `SecretKey: ${created.secretKey}` : `Authorization: Bearer ${JwtToken}`
    const withHeader = ['-c', `http.extraHeader=${header}`]
    const clone = join(root, 'clone')

    await git(root, ...withHeader, 'clone', '-q', url, clone)
    const [here, there] = [join(clone, 'large.bin'), join(root, 'work', 'large.bin')]
    t.ok(readFileSync(here).equals(readFileSync(there)), 'the clone is whole')

    writeFileSync(join(clone, 'more.bin'), randomBytes(4 * 1_048_576))
    await git(root, '-C', clone, 'add', '.')
    await git(root, '-C', clone, 'commit', '-q', '-m', 'second')
    await git(root, '-C', clone, ...withHeader, 'push', '-q', 'origin', 'main')
    const pushed = await git(root, '-C', join(root, 'repo.git'), 'rev-parse', 'main')
    t.equal(pushed, await git(root, '-C', clone, 'rev-parse', 'HEAD'), 'the push has arrived')
    await git(root, '-C', join(root, 'repo.git'), 'fsck', '--full')

    t.ok(backend.requests.length >= 4)
    t.strictSame([...new Set(backend.users)], [created.account.id], 'every request carries the identity')
    for (const { headers } of backend.requests) {
      t.notOk('secretkey' in headers)
      t.notOk('authorization' in headers)
    }
    t.ok(
      backend.requests.some(({ headers }) => headers['transfer-encoding'] === 'chunked'),
      'large packs come in chunks',
    )
  })
}

t.test('git clones and pushes with a secret key as its password', async (t) => {
  const { root, backend, gateway, url } = await start(t, ['SecretKey', 'basic'])
  const { account, secretKey, apiKey } = await gateway.createAccount()
  const withPassword = (password: string) => url.replace('http://', `http://anyone:${password}@`)
  const clone = join(root, 'clone')

  await git(root, 'clone', '-q', withPassword(secretKey), clone)
  writeFileSync(join(clone, 'more.bin'), randomBytes(4 * 1_048_576))
  await git(root, '-C', clone, 'add', '.')
  await git(root, '-C', clone, 'commit', '-q', '-m', 'second')
  await git(root, '-C', clone, 'push', '-q', 'origin', 'main')
  const pushed = await git(root, '-C', join(root, 'repo.git'), 'rev-parse', 'main')
  t.equal(pushed, await git(root, '-C', clone, 'rev-parse', 'HEAD'), 'the push has arrived')
  t.strictSame([...new Set(backend.users)], [account.id], 'every request carries the identity')
  for (const { headers } of backend.requests) t.notOk('authorization' in headers)

  const { length } = backend.requests
  for (const wrong of [apiKey, 'x', `${secretKey}x`])
    await t.rejects(
      git(root, 'clone', '-q', withPassword(wrong), join(root, 'other')),
      /Authentication failed/,
    )
  t.equal(backend.requests.length, length)
})

t.test('git without a credential is refused with 401', async (t) => {
  const { root, backend, url } = await start(t)
  const clone = git(root, 'clone', '-q', url, join(root, 'clone'))
  await t.rejects(clone, { message: /could not read Username|Authentication failed/ })
  const header = 'http.extraHeader=SecretKey: gsk_wrong'
  await t.rejects(git(root, '-c', header, 'clone', '-q', url, join(root, 'clone')))
  t.equal(backend.requests.length, 0)
})

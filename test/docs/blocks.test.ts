import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { assertProgram } from '../setup/missing-program.ts'
import { type Snippet, snippetsOf } from './snippets.ts'

// uses: git

/**
 * Which test runs each block of code of the documentation, by page and heading; a page alone stands for all its blocks
 * of the language.
 */
const runBy: Readonly<Record<string, string>> = {
  // `check` reads every config; those of other programs are run by these.
  'yaml docs/clients.md Prometheus': 'test/docs/clients.test.ts',
  'yaml docs/operators/monitoring.md Dashboard and alerts': 'test/docs/shell.test.ts',
  'yaml docs/migrating.md': 'test/docs/migrating.test.ts',
  yaml: 'test/docs/configs.test.ts',
  'sh README.md Your own backend': 'test/readme.test.ts',
  'sh README.md Installed': 'test/deploy/package.test.ts',
  'sh CONTRIBUTING.md The loop': 'test/docs/shell.test.ts',
  'html docs/browsers.md': 'test/gateway/browser-walk.test.ts',
  'sh docs/cli.md': 'test/cli/examples.test.ts',
  'sh docs/clients.md': 'test/docs/clients.test.ts',
  'js docs/clients.md': 'test/docs/clients.test.ts',
  'sh docs/deploying.md npm package': 'test/deploy/package.test.ts',
  'sh docs/deploying.md Backup and restore': 'test/docs/backup.test.ts',
  'sh docs/deploying.md From SQLite to Redis': 'test/docs/backup.test.ts',
  'sh docs/deploying.md What a restored backup undoes': 'test/docs/backup.test.ts',
  'sh docs/events.md': 'test/docs/events.test.ts',
  'json docs/events.md': 'test/docs/events.test.ts',
  'js docs/events.md': 'test/docs/events.test.ts',
  'sh docs/issuers.md Blocking users': 'test/docs/shell.test.ts',
  'js docs/library-client.md': 'test/library/verify/examples.test.ts',
  'sh docs/library-fastify.md': 'test/library/fastify/example.test.ts',
  'ts docs/library-fastify.md': 'test/library/fastify/example.test.ts',
  'js docs/library-verify.md Revoked at once': 'test/library/verify/revocations.test.ts',
  'js docs/library-verify.md': 'test/library/verify/examples.test.ts',
  'js docs/start.md': 'test/docs/start.test.ts',
  'sh docs/start.md': 'test/docs/start.test.ts',
  'nginx docs/migrating.md': 'test/docs/migrating.test.ts',
  'ini docs/migrating.md': 'test/docs/migrating.test.ts',
  'sh docs/migrating.md': 'test/docs/migrating.test.ts',
  'sh docs/operators/accounts-and-keys.md Where keys may come': 'test/docs/shell.test.ts',
  'sh docs/operators/commands.md': 'test/docs/shell.test.ts',
  'sh docs/operators/accounts-and-keys.md': 'test/docs/shell.test.ts',
  'yaml docs/operators/accounts-and-keys.md Accounts and keys as a file': 'test/docs/shell.test.ts',
  'sh docs/operators/sealing-and-signing-keys.md': 'test/docs/shell.test.ts',
  'sh docs/operators/portal-users-and-audit.md': 'test/docs/shell.test.ts',
  'sh docs/sender-constrained.md': 'test/docs/sender-constrained.test.ts',
  'js docs/sender-constrained.md': 'test/docs/sender-constrained.test.ts',
  'js docs/operators/identity-for-backends.md Signed assertions for backends':
    'test/gateway/assertion.test.ts',
}

/** Blocks that no test can run as they stand, why, and what is tried of them. */
const notRun: Readonly<Record<string, readonly [reason: string, tried: string]>> = {
  'sh README.md Quick start': [
    'a test cannot install the packages that it runs with, nor run all tests',
    'test/cli/npm-scripts.test.ts starts and stops `npm start`, test/cli/serve-demo.test.ts pastes the lines it prints',
  ],
  'sh docs/deploying.md systemd': [
    'it needs systemd as the first process',
    'test/deploy/systemd.test.ts has systemd read the unit, test/docs/shell.test.ts makes the account',
  ],
  'sh docs/deploying.md One file': [
    'it installs packages, and below /opt',
    'test/deploy/binary.test.ts builds the file, and runs it in an empty folder without Node',
  ],
  'sh docs/deploying.md Container': [
    'it needs a container engine',
    'test/deploy/image/run.ts builds the image and starts it, test/docs/shell.test.ts makes the account',
  ],
  'sh docs/deploying.md Compose': [
    'it needs a container engine',
    'test/deploy/compose-run.test.ts makes the secrets and starts the programs as the file says',
  ],
  'sh docs/deploying.md Kubernetes': [
    'it needs a cluster',
    'test/deploy/kubernetes.test.ts renders, and test/deploy/kubernetes-run.test.ts starts what would run',
  ],
  'sh docs/releasing.md Releasing': [
    'it pushes a tag',
    'test/release.test.ts runs what the tag starts, .ci/release, with stand-ins for git and docker',
  ],
  'sh docs/deploying.md Helm': ['it needs a cluster', 'test/deploy/helm.test.ts renders the chart'],
}

assertProgram('git')
const pages = execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' }).trim().split('\n')
// Pictures of folders, and settings of Redis, which test/store/redis/acl.test.ts reads.
const blocks = pages.flatMap(snippetsOf).filter(({ language }) => language !== 'text')

/** From the most to the least exact. */
function keysOf({ language, page, heading }: Snippet): readonly string[] {
  return [`${language} ${page} ${heading}`, `${language} ${page}`, language]
}

t.test('every block of code of the documentation is run by a test, or it is said why not', async (t) => {
  t.ok(blocks.length > 100)
  const unknown = blocks.filter((block) => !keysOf(block).some((key) => key in runBy || key in notRun))
  t.strictSame(
    unknown.map(({ language, page, heading }) => `${language} ${page} ${heading}`),
    [],
  )
})

t.test('what is listed stands in the documentation, and the tests are there', async (t) => {
  const used = new Set(
    blocks.map((block) => keysOf(block).find((key) => key in runBy || key in notRun) ?? ''),
  )
  t.strictSame(
    Object.keys({ ...runBy, ...notRun }).filter((key) => !used.has(key)),
    [],
  )
  const tests = [...Object.values(runBy), ...Object.values(notRun).map(([, tried]) => tried)]
  const files = tests.flatMap((text) => [...text.matchAll(/test\/[\w/.-]+\.ts/g)].map(([file]) => file))
  t.strictSame(
    files.filter((file) => !existsSync(file)),
    [],
  )
})

t.test('every test that runs shell lines or programs of a page reads that page or its example', async (t) => {
  const readsNot = Object.entries(runBy).filter(([key, file]) => {
    const [, page = ''] = key.split(' ')
    const text = readFileSync(file, 'utf8')
    // Examples of help are what the page is generated from; the package test runs its lines in another order.
    return page !== '' && !text.includes(page) && !text.includes('allCommands') && !file.includes('package')
  })
  t.strictSame(readsNot, [])
})

t.test('no block of code is without a language', async (t) => {
  const bare = pages.filter((page) => {
    const fences = readFileSync(page, 'utf8').match(/^```.*$/gm) ?? []
    return fences.some((fence, index) => index % 2 === 0 && fence === '```')
  })
  t.strictSame(bare, [])
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { run, tempFolder } from './run.ts'
import { configOf } from './workspace.ts'

const issuers = [
  { name: 'corp', issuer: 'https://id.example.com', audience: 'orders' },
  { name: 'partners', issuer: 'https://partners.example.com', audience: 'orders' },
]

t.test('subjects of issuers are blocked, listed and unblocked by commands', async (t) => {
  const folder = tempFolder(t)
  writeFileSync(join(folder, 'gateway.yaml'), configOf({ issuers }))
  const gatehouse = (...args: readonly string[]) =>
    run(t, [...args, '--config', join(folder, 'gateway.yaml')])

  const none = await gatehouse('subjects', 'list')
  t.equal(none.stdout, 'Nobody is blocked.\n')
  const blocked = await gatehouse('subjects', 'block', 'corp', 'auth0|ada')
  t.match(blocked, { status: 0, stdout: '"auth0|ada" of corp is blocked now.\n' })
  t.match(await gatehouse('subjects', 'block', 'corp', 'auth0|ada'), { status: 0, stdout: /already/ })
  const asJson = await gatehouse('subjects', 'block', 'partners', 'bob', '--json')
  t.strictSame(asJson.json(), { issuer: 'partners', subject: 'bob' })

  const list = await gatehouse('subjects', 'list', '--json')
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
  t.match(list.json(), [
    { issuer: 'partners', subject: 'bob', id: 'partners:bob', blockedAt: time },
    { issuer: 'corp', subject: 'auth0|ada', id: 'corp:auth0|ada', blockedAt: time },
  ])
  t.match(
    (await gatehouse('subjects', 'list')).stdout,
    /^ISSUER +SUBJECT +BLOCKED\npartners +bob +\S+\ncorp /,
  )

  t.match(await gatehouse('subjects', 'unblock', 'corp', 'auth0|ada'), {
    status: 0,
    stdout: /is no longer blocked/,
  })
  t.match(await gatehouse('subjects', 'unblock', 'corp', 'auth0|ada'), {
    status: 1,
    stderr: /"auth0\|ada" of corp is not blocked\n +See: gatehouse subjects list/,
  })
  const unknown = await gatehouse('subjects', 'block', 'crop', 'ada')
  t.equal(unknown.status, 1)
  t.match(
    unknown.stderr,
    /issuer: must be the name of an issuer in the config: corp, partners, did you mean "corp"\?/,
  )
  t.match(await gatehouse('subjects', 'block', 'corp', 'x'.repeat(256)), {
    status: 1,
    stderr: /1 to 255 characters/,
  })
  t.match(await gatehouse('subjects', 'block', 'corp'), { status: 2, stderr: /SUBJECT is missing/ })

  writeFileSync(join(folder, 'gateway.yaml'), configOf({}))
  t.match(await gatehouse('subjects', 'block', 'corp', 'ada'), {
    status: 1,
    stderr: /the config has no issuers/,
  })
  t.equal((await gatehouse('subjects', 'unblock', 'partners', 'bob')).status, 0, 'of an issuer that is gone')
  const { stdout } = await gatehouse('audit', 'list', '--json')
  t.strictSame(
    (JSON.parse(stdout) as readonly { readonly action: string }[]).map(({ action }) => action),
    ['subject-unblocked', 'subject-unblocked', 'subject-blocked', 'subject-blocked'],
  )
})

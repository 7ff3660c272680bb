import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import t from 'tap'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { startRedis } from '../../setup/redis.ts'
import { assertUnavailable, everyVerb } from '../contract/every-verb.ts'
import { newAuditEntry } from '../portal-samples.ts'
import { createAccount } from '../samples.ts'
import { runStoreSuite } from '../suite.ts'
import { commandsAlways, commandsSometimes, credentials, password, userArgs } from './acl-user.ts'
import { openAt, openInspector, openStoreAt, optionsOf, prefixedPlaces } from './place.ts'

// slow: the whole contract of the store once more, with the fewest rights

// The whole suite: a busy machine takes its time.
t.setTimeout(120_000)

t.test('a user with rights on its own keys and channels alone is enough', async (t) => {
  const server = await startRedis(t, [...userArgs, '--user', 'default', 'off'])
  runStoreSuite(t, prefixedPlaces(optionsOf(server, credentials)))

  t.test('every documented Redis right is needed', async (t) => {
    const store = await openStoreAt(t, optionsOf(server, credentials), { listens: true })
    for (const ask of Object.values(everyVerb)) await ask(store)
    const inspector = new Redis(server.url, credentials)
    t.teardown(() => inspector.disconnect())
    // What is too old goes with the next entry.
    await inspector.xadd('gh:old:{account}:audit', '1-1', 'entry', '{}')
    const old = await openStoreAt(t, optionsOf(server, { ...credentials, keyPrefix: 'gh:old:' }))
    await old.appendAudit(newAuditEntry())
    const used = [...(await inspector.info('commandstats')).matchAll(/^cmdstat_([^:]+)/gm)]
    const names = new Set(used.map(([, name]) => name))
    t.strictSame(
      commandsAlways.filter((command) => !names.has(command)),
      [],
    )
  })

  t.test('a user without rights on the keys gets no answers', async (t) => {
    const options = optionsOf(server, credentials)
    const elsewhere = openAt(t, { ...options, keyPrefix: 'other:' })
    const refusal = await elsewhere.ready(200).catch((error: unknown) => error)
    t.match(refusal, { name: 'OperatorError', message: /NOPERM/ }, 'the operator learns why')
    await assertUnavailable(t, elsewhere)
  })
})

t.test('a user who lacks a right makes no change, not even half of one', async (t) => {
  const server = await startRedis(t, [...userArgs])
  const inspector = openInspector(t, server)
  const { id } = await createAccount(await openStoreAt(t, optionsOf(server)))
  for (const [without, missing] of [
    ['-publish', /\+publish/],
    ['-xadd', /\+xadd/],
    ['resetchannels', /channel gh:\{account\}:changes/],
  ] as const) {
    await inspector.call('ACL', 'SETUSER', 'gatehouse', without)
    const store = await openStoreAt(t, optionsOf(server, credentials))
    for (const write of [() => store.updateAccount(id, { isDisabled: true }), store.probeWrite]) {
      const refusal = await write().catch((error: unknown) => error)
      t.match(refusal, { code: 'store-unavailable', cause: { kind: 'refused', message: missing } }, without)
    }
    t.match(await store.findAccount(id), { isDisabled: false }, without)
    await inspector.call('ACL', 'SETUSER', 'gatehouse', '+publish', '+xadd', '&gh:*')
    t.match(await store.updateAccount(id, { firstName: without }), { kind: 'updated' }, 'once it has it')
  }
})

t.test('the documented Redis rights are those tested', async (t) => {
  const text = readFileSync(new URL('../../../docs/operators/store.md', import.meta.url), 'utf8')
  const [, documented = ''] = /^(~gh:\* [^`]*)```/m.exec(text) ?? []
  const [, sometimes = ''] = /and `\+select` for([^.]*)\./.exec(text) ?? []
  const rights = (part: string) => [...part.matchAll(/\+([a-z|]+)/g)].map(([, name]) => name ?? '').toSorted()
  t.strictSame(rights(documented), [...commandsAlways].toSorted())
  t.strictSame(rights(`+select ${sometimes}`), [...commandsSometimes].toSorted())
})

t.test('a server with a password takes the right one only', async (t) => {
  const server = await startRedis(t, ['--requirepass', password])
  const store = await openStoreAt(t, optionsOf(server, { password }))
  const { id } = await createAccount(store)
  t.equal((await store.findAccount(id))?.id, id)
  for (const wrong of [undefined, `${password}.`]) {
    const stranger = openAt(t, optionsOf(server, { password: wrong }))
    const refusal = await stranger.ready(500).catch((error: unknown) => error)
    t.ok(refusal instanceof OperatorError)
    t.match(refusal, { message: /NOAUTH|WRONGPASS/ }, 'the operator learns why')
    t.notMatch(refusal, { message: password })
    await assertUnavailable(t, stranger)
  }
})

t.test('a password may come with the URL', async (t) => {
  const server = await startRedis(t, ['--requirepass', password])
  const url = `redis://:${encodeURIComponent(password)}@127.0.0.1:${server.port}/3`
  const store = await openStoreAt(t, optionsOf({ url }))
  const { id } = await createAccount(store)
  t.equal((await store.findAccount(id))?.id, id)
})

import t from 'tap'
import { startBackend } from '../../setup/backend.ts'
import { type EventReceiver, type ReceivedEvent, startEventReceiver } from '../../setup/event-receiver.ts'
import { startGateway, storeDrivers, type TestGateway } from '../../setup/gateway.ts'
import { startMailServer } from '../../setup/mail-server.ts'
import { until } from '../../setup/net.ts'
import { reloadWith, taken } from '../support/reload.ts'

const types = (events: readonly ReceivedEvent[]) => events.map(({ type }) => type)
const day = 86_400_000

function configOf(receivers: readonly EventReceiver[], wanted: readonly string[] = ['account.created']) {
  return { events: receivers.map(({ url, secret }) => ({ url, secret, types: wanted })), limits: {} }
}

async function pendingOf({ opsUrl }: TestGateway): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text()
  return Number(/^gatehouse_events_pending (\d+)$/m.exec(text)?.[1])
}

for (const driver of storeDrivers) {
  t.test(`${driver}: what changes is told to a receiver, signed, in order and once`, async (t) => {
    const receiver = await startEventReceiver(t)
    const gateway = await startGateway(t, { driver, config: configOf([receiver], ['account.*', 'key.*']) })
    const { account, secretKey, apiKey } = await gateway.createAccount({ email: 'ada@example.com' })
    await gateway.operate(async ({ secretKeys, accounts }) => {
      await secretKeys.create(account.id, { name: 'ci', scopes: [], addresses: [], expiresAt: undefined })
      await secretKeys.revoke(account.id, 'ci', 0)
      await accounts.update(account.id, { firstName: 'Ada' })
      await accounts.update(account.id, { isDisabled: true })
      await accounts.remove(account.id)
    })
    await until('six events', () => receiver.accepted.length === 6 || undefined)
    t.strictSame(types(receiver.accepted), [
      'account.created',
      'key.created',
      'key.revoked',
      'account.updated',
      'account.disabled',
      'account.deleted',
    ])
    const [created, keyCreated] = receiver.accepted
    t.match(created, {
      specversion: '1.0',
      id: /^evt_[\w-]{24}$/,
      source: 'http://localhost:8080',
      subject: account.id,
      datacontenttype: 'application/json',
      time: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
      data: {
        action: 'account-created',
        account: { id: account.id, email: 'ada@example.com' },
        actor: { channel: 'cli' },
      },
    })
    t.match(keyCreated?.data.details, { name: 'ci' })
    t.equal(new Set(receiver.accepted.map(({ id }) => id)).size, 6)
    for (const secret of [secretKey, apiKey])
      t.notOk(
        receiver.bodies.some((body) => body.includes(secret)),
        'no secret in an event',
      )
    await until('nothing is pending', async () => (await pendingOf(gateway)) === 0 || undefined)
  })
}

t.test('an event that is refused holds up only those of its account, which follow it in order', async (t) => {
  let now = Date.now()
  let isPoisoned = true
  const poison = (event: ReceivedEvent) => isPoisoned && event.data.account?.email === 'poison@example.com'
  const receiver = await startEventReceiver(t, {
    answer: (event, response) => poison(event) && Boolean(response.writeHead(500).end()),
    clock: () => now,
  })
  const gateway = await startGateway(t, { config: configOf([receiver], ['account.*']), clock: () => now })
  const poisoned = await gateway.createAccount({ email: 'poison@example.com' })
  await until('it is refused', () => receiver.refused.length > 0 || undefined)
  await gateway.operate(({ accounts }) => accounts.update(poisoned.account.id, { firstName: 'P' }))
  const others = await Promise.all(Array.from({ length: 20 }, () => gateway.createAccount()))
  const all = await until('the others have theirs', async () => {
    now += 2_000
    return receiver.accepted.length === others.length ? receiver.accepted.slice() : undefined
  })
  t.strictSame(new Set(all.map(({ subject }) => subject)), new Set(others.map(({ account }) => account.id)))
  await until('two wait', async () => (await pendingOf(gateway)) === 2 || undefined)
  isPoisoned = false
  const late = await until('the account has its events', () => {
    now += 60_000
    const own = receiver.accepted.filter(({ subject }) => subject === poisoned.account.id)
    return own.length === 2 ? own : undefined
  })
  t.strictSame(types(late), ['account.created', 'account.updated'])
  t.strictSame([...new Set(receiver.refused.map(({ id }) => id))], [late[0]?.id], 'a retry has the same ID')
})

t.test('a receiver that hangs holds up no other', async (t) => {
  const hanging = await startEventReceiver(t, { answer: () => true })
  const receiver = await startEventReceiver(t)
  const gateway = await startGateway(t, { config: configOf([hanging, receiver]) })
  for (let count = 0; count < 30; count++) await gateway.createAccount()
  await until('the other has all', () => receiver.accepted.length === 30 || undefined)
  t.equal(hanging.accepted.length, 0)
  const startedAt = performance.now()
  await gateway.shutDown()
  t.ok(performance.now() - startedAt < 5_000, 'nor the shutdown')
})

t.test('what a receiver does not accept for three days is dropped and said so, and no sooner', async (t) => {
  let now = Date.now()
  const receiver = await startEventReceiver(t, {
    answer: (_event, response) => Boolean(response.writeHead(503).end()),
    clock: () => now,
  })
  const gateway = await startGateway(t, { config: configOf([receiver]), clock: () => now })
  const start = now
  for (let count = 0; count < 110; count++) await gateway.createAccount()
  while (now < start + 2 * day) {
    const before = receiver.refused.length
    now += 12 * 3_600_000
    await until('another try', () => receiver.refused.length > before || undefined)
  }
  await until('all wait', async () => (await pendingOf(gateway)) === 110 || undefined)
  now = start + 3 * day + 600_000
  await until('all are dropped', async () => {
    now += 600_000
    return (await pendingOf(gateway)) === 0 || undefined
  })
  const text = await (await fetch(`${gateway.opsUrl}/metrics`)).text()
  t.match(text, 'gatehouse_events_delivered_total{result="dropped"} 110')
  t.ok(gateway.logLines.some((line) => line.includes('events dropped')))
})

t.test('an event that alone is refused for three days is dropped, and those after it follow', async (t) => {
  let now = Date.now()
  const isPoison = ({ type, data }: ReceivedEvent) =>
    type === 'account.created' && data.account?.email === 'poison@example.com'
  const receiver = await startEventReceiver(t, {
    answer: (event, response) => isPoison(event) && Boolean(response.writeHead(400).end()),
    clock: () => now,
  })
  const gateway = await startGateway(t, { config: configOf([receiver], ['account.*']), clock: () => now })
  const start = now
  const poisoned = await gateway.createAccount({ email: 'poison@example.com' })
  await until('it is refused', () => receiver.refused.length > 0 || undefined)
  await gateway.operate(({ accounts }) => accounts.update(poisoned.account.id, { firstName: 'P' }))
  const acceptAnother = async () => {
    const { account } = await gateway.createAccount()
    const isAccepted = () => receiver.accepted.some(({ subject }) => subject === account.id)
    while (!isAccepted()) {
      const before = receiver.refused.length
      // The longest pause after a failure. Only then, as what is sent says when.
      now += 300_000
      await until('one is sent', () => isAccepted() || receiver.refused.length > before)
    }
  }
  const hasFollowing = () => receiver.accepted.some(({ type }) => type === 'account.updated')
  while (now < start + 2.5 * day) {
    const before = receiver.refused.length
    now += day / 2
    await until('another try', () => receiver.refused.length > before || undefined)
    await acceptAnother()
  }
  t.notOk(hasFollowing(), 'no sooner')
  now = start + 3 * day
  for (let count = 0; count < 5 && !hasFollowing(); count++) {
    now += 3_700_000
    await acceptAnother()
  }
  await until('it is dropped', () => hasFollowing() || undefined)
  const text = await (await fetch(`${gateway.opsUrl}/metrics`)).text()
  t.match(text, 'gatehouse_events_delivered_total{result="dropped"} 1\n')
  t.ok(gateway.logLines.some((line) => line.includes('events dropped')))
})

t.test('what is retried by hand is sent, however often it was refused', async (t) => {
  let now = Date.now()
  let isPoisoned = true
  const receiver = await startEventReceiver(t, {
    answer: ({ data }, response) =>
      isPoisoned && data.account?.email === 'poison@example.com' && Boolean(response.writeHead(400).end()),
    clock: () => now,
  })
  const gateway = await startGateway(t, { config: configOf([receiver]), clock: () => now })
  await gateway.createAccount({ email: 'poison@example.com' })
  await until('it is refused', () => receiver.refused.length > 0 || undefined)
  const before = receiver.refused.length
  now += 3 * day + 600_000
  await until('it is tried once more', () => receiver.refused.length > before || undefined)
  isPoisoned = false
  await gateway.operate(async ({ receivers }) => {
    for (const { id } of await receivers.list()) t.equal(await receivers.retry(id), 'retried')
  })
  await until('it arrives', () => receiver.accepted.length === 1 || undefined)
})

t.test('what was not delivered before a restart is delivered after it, and nothing twice', async (t) => {
  let isDead = true
  const later = Date.now() + 600_000
  const receiver = await startEventReceiver(t, {
    answer: (_event, response) => isDead && Boolean(response.writeHead(503).end()),
    clock: () => later,
  })
  const config = configOf([receiver])
  const first = await startGateway(t, { driver: 'redis', config })
  await first.createAccount({ email: 'a@example.com' })
  await until('it is refused', () => receiver.refused.length > 0 || undefined)
  await first.createAccount({ email: 'b@example.com' })
  await first.shutDown()
  isDead = false
  const { redis } = first
  if (!redis) throw new Error('there is a Redis')
  await startGateway(t, { driver: 'redis', redis, config, clock: () => later })
  await until('both arrive', () => receiver.accepted.length === 2 || undefined)
  t.strictSame(
    receiver.accepted.map(({ data }) => data.account?.email),
    ['a@example.com', 'b@example.com'],
  )
})

t.test('a receiver that is removed is forgotten after a week, and continues before that', async (t) => {
  let now = Date.now()
  let isDead = true
  const receiver = await startEventReceiver(t, {
    answer: (_event, response) => isDead && Boolean(response.writeHead(503).end()),
    clock: () => now,
  })
  const { events } = configOf([receiver])
  const options = { driver: 'redis', clock: () => now } as const
  const gateway = await startGateway(t, { ...options, config: { events } })
  const { redis } = gateway
  if (!redis) throw new Error('there is a Redis')
  const states = () =>
    gateway.operate(async ({ store }) =>
      [...(await store.readReceivers()).values()].map((text) => JSON.parse(text)),
    )
  const remove = async () => {
    t.match(await reloadWith(gateway, { events: [] }), taken)
    await until(
      'it is let go',
      async () => (await states()).every(({ holder }) => holder === '') || undefined,
    )
  }
  const startAnother = async () => (await startGateway(t, { ...options, redis })).shutDown()
  const create = (name: string) => gateway.createAccount({ email: `${name}@example.com` })
  const emails = () => receiver.accepted.map(({ data }) => data.account?.email)

  await create('refused')
  await until('it is refused', () => receiver.refused.length > 0 || undefined)
  await remove()
  await create('missed')
  now += 2 * day
  await startAnother()
  isDead = false
  t.match(await reloadWith(gateway, { events }), taken)
  await until('both arrive', () => receiver.accepted.length === 2 || undefined)
  t.strictSame(emails(), ['refused@example.com', 'missed@example.com'])

  await remove()
  await create('forgotten')
  now += 8 * day
  await startAnother()
  t.match(await reloadWith(gateway, { events }), taken)
  await until('it is followed again', async () => (await states()).length === 1 || undefined)
  await create('new')
  await until('one arrives', () => receiver.accepted.length > 2 || undefined)
  t.strictSame(emails().slice(2), ['new@example.com'])
})

t.test('two instances deliver each event once', async (t) => {
  const receiver = await startEventReceiver(t)
  const config = configOf([receiver])
  const one = await startGateway(t, { driver: 'redis', config })
  const { redis } = one
  if (!redis) throw new Error('there is a Redis')
  const other = await startGateway(t, { driver: 'redis', redis, config })
  for (let count = 0; count < 20; count++)
    await [one, other][count % 2]?.createAccount({ email: `n${count}@example.com` })
  await until('all arrive', () => receiver.accepted.length >= 20 || undefined)
  t.equal(new Set(receiver.accepted.map(({ id }) => id)).size, 20)
  t.equal(receiver.accepted.length, 20)
  // Which of the two delivers must not matter.
  await one.shutDown()
  await other.createAccount({ email: 'last@example.com' })
  await until('the other delivers at once', () => receiver.accepted.length === 21 || undefined, 5_000)
})

t.test('a quota is announced at 80 % and 100 %, once', async (t) => {
  const receiver = await startEventReceiver(t)
  const backend = await startBackend(t)
  const config = {
    ...configOf([receiver], ['quota.reached']),
    plans: { small: { quota: { limit: 10, per: 'day' } } },
  }
  const gateway = await startGateway(t, { backend: backend.url, config })
  const { account, secretKey } = await gateway.createAccount({ plan: 'small' })
  const statuses: number[] = []
  for (let count = 0; count < 13; count++)
    statuses.push((await fetch(`${gateway.url}/key`, { headers: { SecretKey: secretKey } })).status)
  t.strictSame(statuses, [...Array.from({ length: 10 }, () => 200), 429, 429, 429])
  await until('both arrive', () => receiver.accepted.length === 2 || undefined)
  t.match(
    receiver.accepted.map(({ subject, data }) => [subject, data.details]),
    [80, 100].map((percent) => [account.id, { percent, limit: 10, per: 'day' }]),
  )
})

t.test('the quota of a key is announced by the name of the key', async (t) => {
  const receiver = await startEventReceiver(t)
  const backend = await startBackend(t)
  const config = configOf([receiver], ['quota.reached'])
  const gateway = await startGateway(t, { backend: backend.url, config })
  const { account } = await gateway.createAccount()
  const input = { name: 'ci', scopes: [], addresses: [], expiresAt: undefined }
  const quota = { limit: 10, per: 'day' } as const
  const key = await gateway.operate(({ secretKeys }) => secretKeys.create(account.id, { ...input, quota }))
  for (let count = 0; count < 11; count++) await fetch(`${gateway.url}/key`, { headers: { SecretKey: key } })
  await until('both arrive', () => receiver.accepted.length === 2 || undefined)
  t.match(
    receiver.accepted.map(({ subject, data }) => [subject, data.details]),
    [80, 100].map((percent) => [account.id, { principal: account.id, key: 'ci', percent, ...quota }]),
  )
})

t.test('a refresh token that is reused is told', async (t) => {
  const receiver = await startEventReceiver(t)
  const config = { ...configOf([receiver], ['session.reused']), tokens: { reuseGrace: '0s' } }
  const gateway = await startGateway(t, { config })
  const created = await gateway.createAccount()
  const { RefreshToken } = await gateway.tokens(created)
  const refresh = () => gateway.post('/api/v1/accounts/refresh-token', { token: RefreshToken })
  t.equal((await refresh()).status, 200)
  for (let count = 0; count < 3; count++) t.equal((await refresh()).status, 401)
  await until('it arrives', () => receiver.accepted.length === 1 || undefined)
  t.equal(receiver.accepted[0]?.subject, created.account.id)
  t.notOk(receiver.bodies.some((body) => body.includes(RefreshToken)))
})

t.test('the end of a key is announced once for each threshold, by event and by mail', async (t) => {
  let now = Date.now()
  const receiver = await startEventReceiver(t, { clock: () => now })
  const mails = await startMailServer(t)
  const mail = { host: '127.0.0.1', port: mails.port, security: 'none', from: 'gatehouse@example.com' }
  const config = { ...configOf([receiver], ['key.expiring']), mail }
  const options = { driver: 'redis', config, clock: () => now } as const
  const gateway = await startGateway(t, options)
  const { redis } = gateway
  if (!redis) throw new Error('there is a Redis')
  const { account } = await gateway.createAccount({ email: 'ada@example.com' })
  const expiresAt = now + 10 * day
  const limits = { scopes: [], addresses: [] }
  await gateway.operate(async ({ secretKeys }) => {
    await secretKeys.create(account.id, { ...limits, name: 'ci', expiresAt })
    await secretKeys.create(account.id, { ...limits, name: 'short', expiresAt: now + day / 2 })
  })
  await startGateway(t, { ...options, redis })
  now += 2 * day
  for (const [index, leftDays] of [6, 0.5].entries()) {
    now = expiresAt - leftDays * day
    await until('it is announced', () => {
      now += 1_000
      return receiver.accepted.length === index + 1 || undefined
    })
    const mailed = await until('a mail', () => mails.mails[index])
    t.match(mailed, /^To: ada@example.com/m)
    t.match(mailed, /^Subject: .*Your_secret_key/m)
  }
  await gateway.shutDown()
  now += 700_000
  const entries = await gateway.operate(({ audit }) =>
    audit.find({ filter: { action: 'key-expiring', who: undefined }, before: undefined, limit: 10 }),
  )
  t.strictSame(
    entries.entries.map(({ details }) => details.name),
    ['ci', 'ci'],
    'once each, and no key that was made for less',
  )
})

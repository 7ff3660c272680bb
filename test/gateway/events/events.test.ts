import t from 'tap'
import { type EventReceiver, type ReceivedEvent, startEventReceiver } from '../../setup/event-receiver.ts'
import { startGateway, storeDrivers, type TestGateway } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'

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
    t.match(keyCreated?.data.details, { name: 'ci', scopes: [], addresses: [], expiresAt: undefined })
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
})

t.test('what a receiver does not accept for three days is dropped and said so, and no sooner', async (t) => {
  let now = Date.now()
  let isDead = true
  const receiver = await startEventReceiver(t, {
    answer: (_event, response) => isDead && Boolean(response.writeHead(503).end()),
    clock: () => now,
  })
  const gateway = await startGateway(t, { config: configOf([receiver]), clock: () => now })
  const start = now
  for (let count = 0; count < 150; count++) await gateway.createAccount()
  while (now < start + 3 * day - 600_000) {
    const before = receiver.refused.length
    now += 3_600_000
    await until('another try', () => receiver.refused.length > before || undefined)
  }
  await until('all wait', async () => (await pendingOf(gateway)) === 150 || undefined)
  now = start + 3 * day + 600_000
  await until('all are dropped', async () => {
    now += 600_000
    return (await pendingOf(gateway)) === 0 || undefined
  })
  const text = await (await fetch(`${gateway.opsUrl}/metrics`)).text()
  t.match(text, 'gatehouse_events_delivered_total{result="dropped"} 150')
  t.ok(gateway.logLines.some((line) => line.includes('events dropped')))
  isDead = false
  now += 600_000
  await gateway.createAccount()
  await until('new events arrive', () => receiver.accepted.length === 1 || undefined)
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

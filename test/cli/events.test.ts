import t from 'tap'
import { startEventReceiver } from '../setup/event-receiver.ts'
import { startGateway } from '../setup/gateway.ts'
import { freePort, until } from '../setup/net.ts'
import { run } from './run.ts'

t.test('commands list receivers, have what waits tried again, and send an event to try one', async (t) => {
  let isDead = true
  const receiver = await startEventReceiver(t, {
    answer: (event, response) =>
      isDead && event.type !== 'gatehouse.test' && Boolean(response.writeHead(503).end()),
  })
  const { secret } = receiver
  const closed = `http://127.0.0.1:${await freePort()}/closed`
  const gateway = await startGateway(t, {
    config: {
      events: [
        { url: `${receiver.url}/?token=hidden`, secret, types: ['account.created'] },
        { url: closed, secret, types: ['key.leaked'] },
      ],
    },
  })
  const gatehouse = (...args: readonly string[]) =>
    run(t, ['events', ...args, '--config', gateway.configFile])
  const name = `${receiver.url}/`

  for (let count = 0; count < 3; count++) await gateway.createAccount()
  await until('they are refused', () => receiver.refused.length >= 3 || undefined)
  const list = await until('all wait', async () => {
    const { stdout } = await gatehouse('list', '--json')
    const [first] = JSON.parse(stdout)
    return first.pending === 3 && first.state === 'failing' && JSON.parse(stdout)
  })
  const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
  t.match(list, [
    { receiver: name, state: 'failing', dropped: 0, deliveredAt: null, failedAt: time, reason: 'status 503' },
    { receiver: closed, state: 'ok', pending: 0, reason: null, nextAt: null },
  ])
  const table = (await gatehouse('list')).stdout
  t.match(table, /^RECEIVER +STATE +PENDING +DROPPED +DELIVERED +NEXT TRY +LAST FAILURE\n/)
  t.notMatch(table, 'hidden', 'a query is not shown')

  const tested = await gatehouse('test', '--receiver', name)
  t.match(tested, { status: 0, stdout: /accepted/ })
  t.match(receiver.accepted, [{ type: 'gatehouse.test', data: { action: 'test', account: null } }])
  const both = await gatehouse('test', '--json')
  t.equal(both.status, 1)
  t.match(both.stderr, '1 of 2 receivers did not accept the event')
  t.match(JSON.parse(both.stdout), [
    { receiver: name, error: null },
    { receiver: closed, error: /refused/ },
  ])

  isDead = false
  t.match(await gatehouse('retry', '--receiver', name), { status: 0, stdout: /tried again/ })
  await until('all arrive', () => receiver.accepted.length === 5 || undefined, 8_000)
  const { stdout: audit } = await run(t, ['audit', 'list', '--json', '--config', gateway.configFile])
  const ofReceivers = JSON.parse(audit).filter(({ action }: { action: string }) => action.startsWith('event'))
  t.match(
    ofReceivers,
    [
      { action: 'events-retried', channel: 'cli', details: { receiver: name } },
      { action: 'event-tested', details: { receiver: /./ } },
      { action: 'event-tested', details: { receiver: /./ } },
      { action: 'event-tested', channel: 'cli', details: { receiver: name } },
    ],
    'the audit log says who did it',
  )
  const unknown = await gatehouse('retry', '--receiver', 'http://127.0.0.1:1/')
  t.match(unknown, { status: 1, stderr: /no receiver has the URL/ })
})

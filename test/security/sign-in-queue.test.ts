import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { openPortalForm } from './support/portal-form.ts'

// slow: hashes many passwords

const password = 'correct horse battery staple'
/** How long somebody waits for their turn at most. */
const waitMs = 5_000
/** More than the places there are: two passwords are checked at once, and 64 strangers may wait. */
const floodsMax = 70
/** How long an answer takes beside the wait, on a machine that has much else to do. */
const answeredWithinMs = 2_000
/**
 * Of a password hash that was made with these parameters, checking takes some tenths of a second: the flood keeps all
 * places, whatever the machine.
 */
const slowHash = `$argon2id$v=19$m=65536,t=4,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`

/**
 * A gateway behind a proxy that says where clients come from, and a person whose browser has signed in before.
 * @param networks over which those who flood it are spread
 */
async function startFlooded(t: Test, networks: number) {
  const gateway = await startGateway(t, { config: { trustedProxies: ['127.0.0.0/8'] } })
  const [known, stranger] = [await createPerson(gateway), await createPerson(gateway)]
  const emails = await createSlowAccounts(gateway)
  const send = await openPortalForm(gateway.url, '/sign-in')
  const signIn = (email: string, from: string, headers = {}) =>
    send({ email, password }, { 'X-Forwarded-For': from, ...headers })

  let isOver = false
  /** The networks of which a password was checked. */
  const checked = new Set<number>()
  /** How many sign-ins found no place, or had no turn in time. */
  const refused = { count: 0 }
  let turn = Promise.withResolvers<void>()
  /** Tries again at once, or where there is no place as soon as there is one. */
  async function flood(email: string, index: number): Promise<void> {
    const network = index % networks
    while (!isOver) {
      const { status } = await signIn(email, `10.1.${network}.${Math.floor(index / networks) + 1}`)
      if (status === 503) {
        refused.count++
        await turn.promise
        continue
      }
      checked.add(network)
      turn.resolve()
      turn = Promise.withResolvers()
    }
  }
  const floods = emails.map(flood)
  t.teardown(async () => {
    isOver = true
    turn.resolve()
    await Promise.all(floods)
  })
  return { known, stranger, signIn, checked, refused }
}

async function timed<Result>(work: () => Promise<Result>) {
  const startedAt = performance.now()
  const result = await work()
  return { ...result, tookMs: performance.now() - startedAt }
}

t.test('with the sign-in queue full a known browser and another network still get in', async (t) => {
  const networks = 10
  const { known, stranger, signIn, checked } = await startFlooded(t, networks)
  await until('each of the ten had its turn', () => checked.size === networks, 120_000)

  const back = await timed(() => signIn(known.email, '192.0.2.1', { Cookie: known.cookie }))
  t.equal(back.status, 303, 'the known browser')
  t.ok(back.tookMs < waitMs, `after ${back.tookMs} ms`)

  const first = await timed(() => signIn(stranger.email, '198.51.100.1'))
  t.equal(first.status, 303, 'the stranger of another network')
  t.ok(first.tookMs < waitMs, `after ${first.tookMs} ms`)
})

t.test('a sign-in refused for a full queue is answered in time with Retry-After', async (t) => {
  const { known, stranger, signIn, refused } = await startFlooded(t, floodsMax)
  await until('all places are taken', () => refused.count > 0, 60_000)
  const attempts = Array.from({ length: 20 }, (_, index) =>
    timed(() => signIn(stranger.email, `198.51.${index}.1`)),
  )
  const back = await timed(() => signIn(known.email, '192.0.2.1', { Cookie: known.cookie }))
  t.equal(back.status, 303, 'a known browser gets in even now')
  t.ok(back.tookMs < waitMs, `after ${back.tookMs} ms`)

  const answers = await Promise.all(attempts)
  const busy = answers.filter(({ status }) => status === 503)
  t.ok(busy.length > 0)
  t.strictSame(
    answers.map(({ status }) => status).filter((status) => status !== 303 && status !== 503),
    [],
  )
  for (const { headers, tookMs } of busy) {
    t.equal(headers.get('retry-after'), '5')
    t.ok(tookMs < waitMs + answeredWithinMs, `after ${tookMs} ms`)
  }
})

async function createPerson(gateway: TestGateway) {
  const { account } = await gateway.createAccount()
  const { token } = await gateway.operate(({ setupLinks }) => setupLinks.create(account.id))
  const choose = await openPortalForm(gateway.url, '/setup')
  const { cookies } = await choose({ token, password, again: password })
  const cookie = cookies.split('; ').find((pair) => pair.includes('gatehouse-known')) ?? ''
  return { email: account.email, cookie }
}

/** One for each flood: of an account only 80 wrong passwords in a row are checked. */
async function createSlowAccounts(gateway: TestGateway): Promise<readonly string[]> {
  const inputs = Array.from({ length: floodsMax }, (_, index) => `slow${index}@example.com`)
  for (const email of inputs) await gateway.createAccount({ email })
  const database = new DatabaseSync(join(dirname(gateway.configFile), 'gatehouse.db'))
  const sets = database.prepare(
    "UPDATE accounts SET portal = json_set(portal, '$.password', ?) WHERE email LIKE 'slow%'",
  )
  sets.run(slowHash)
  database.close()
  return inputs
}

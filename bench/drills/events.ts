import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { leaseMs } from '#accounts/events/deliveries.ts'
import { until } from '../../test/setup/net.ts'
import { startRedis } from '../../test/setup/redis.ts'
import type { Scope } from '../scope.ts'
import { startBackend } from './backend.ts'
import type { Report } from './figures.ts'
import { type Instance, startInstanceGroup } from './instance-group.ts'

/** A receiver in this process. */
interface Receiver {
  readonly url: string
  readonly secretFile: string
  /** How often each event was accepted, by its ID; in the order in which they came first. */
  readonly accepted: ReadonlyMap<string, number>
  /** The changes of each account, in the order in which they came first. */
  readonly ofAccounts: ReadonlyMap<string, readonly number[]>
  answers: 'accept' | 'refuse' | 'hang'
}

const accounts = 200
const changesEach = 10
const backlog = 10_000

/** Receivers that hang and fail, and the instance that delivers killed while it does: nothing is lost, all in order. */
export async function events(scope: Scope, report: Report): Promise<void> {
  const redis = await startRedis(scope)
  const good = await startReceiver(scope)
  const hanging = await startReceiver(scope)
  hanging.answers = 'hang'
  const group = await startInstanceGroup(scope, {
    backendUrl: await startBackend(scope),
    stores: Array.from({ length: 3 }, () => ({ url: redis.url })),
    config: {
      events: [good, hanging].map(({ url, secretFile }) => ({
        url,
        secret: { file: secretFile },
        types: ['account.updated'],
      })),
    },
  })
  const created = await group.createAccounts(accounts)

  async function change(times: number): Promise<void> {
    await group.operate(async (operator) => {
      for (let count = 0; count < times; count++)
        for (const { account } of created)
          await operator.accounts.update(account.id, { firstName: String(next++) })
    })
  }
  let next = 0

  const changing = change(changesEach)
  await until('some are delivered', () => good.accepted.size > accounts || undefined)
  const holder = await delivering(group.instances)
  holder.child.kill('SIGKILL')
  const killedAt = performance.now()
  const before = good.accepted.size
  await until('another instance goes on', () => good.accepted.size > before + 20 || undefined, 3 * leaseMs)
  const pauseS = (performance.now() - killedAt) / 1_000
  await changing
  const all = accounts * changesEach
  await until('all arrive', () => good.accepted.size >= all || undefined, 120_000)
  report.demand(
    'after a kill -9 another instance delivers',
    pauseS < leaseMs / 1_000 + 5,
    `after ${pauseS.toFixed(1)} s`,
  )
  const repeated = [...good.accepted.values()].filter((times) => times > 1).length
  report.demand(
    'nothing is lost',
    good.accepted.size === all,
    `${good.accepted.size} of ${all}, ${repeated} of them twice`,
  )
  report.demand('each account is told in order', isInOrder(good), '')

  good.answers = 'refuse'
  await change(backlog / accounts)
  const pending = await until(
    'all wait',
    async () => {
      const count = await pendingOf(group.instances.filter((one) => one !== holder))
      return count >= 2 * backlog + all ? count : undefined
    },
    120_000,
  )
  report.line(`${pending} entries wait for both receivers`)
  good.answers = 'accept'
  const startedAt = performance.now()
  await until('the backlog arrives', () => good.accepted.size >= all + backlog || undefined, 600_000)
  const seconds = (performance.now() - startedAt) / 1_000
  report.demand(
    'a backlog arrives whole and in order',
    isInOrder(good),
    `${backlog} in ${seconds.toFixed(0)} s, from when the receiver was back`,
  )
  report.demand('the receiver that hangs got nothing, and held up nothing', hanging.accepted.size === 0, '')
}

function isInOrder({ ofAccounts }: Receiver): boolean {
  return [...ofAccounts.values()].every((changes) =>
    changes.every((value, index) => index === 0 || value > (changes[index - 1] ?? 0)),
  )
}

async function startReceiver(scope: Scope): Promise<Receiver> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-drill-events-'))
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const secretFile = join(folder, 'secret')
  writeFileSync(secretFile, secret)
  const webhook = new Webhook(secret)
  const accepted = new Map<string, number>()
  const ofAccounts = new Map<string, number[]>()
  const server = createServer(async (request, response) => {
    const body = await text(request)
    if (receiver.answers === 'hang') return
    if (receiver.answers === 'refuse') {
      response.writeHead(500).end()
      return
    }
    // The casts are sound: what differs throws, or fails the demands.
    const event = webhook.verify(body, request.headers as Record<string, string>) as {
      readonly id: string
      readonly subject: string
      readonly data: { readonly details: { readonly firstName: string } }
    }
    const times = accepted.get(event.id) ?? 0
    accepted.set(event.id, times + 1)
    if (times === 0)
      ofAccounts.set(event.subject, [
        ...(ofAccounts.get(event.subject) ?? []),
        Number(event.data.details.firstName),
      ])
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  scope.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/`,
    secretFile,
    accepted,
    ofAccounts,
    answers: 'accept',
  }
  return receiver
}

async function metricOf({ opsUrl }: Instance, pattern: RegExp): Promise<number> {
  const exposition = await (await fetch(`${opsUrl}/metrics`)).text()
  return Number(pattern.exec(exposition)?.[1] ?? 0)
}

/** The instance that has delivered most. */
async function delivering(instances: readonly Instance[]): Promise<Instance> {
  const counted = await Promise.all(
    instances.map(async (instance) => ({
      instance,
      count: await metricOf(instance, /^gatehouse_events_delivered_total\{result="delivered"\} (\d+)$/m),
    })),
  )
  const [most] = counted.toSorted((a, b) => b.count - a.count)
  if (!most) throw new Error('there are no instances')
  return most.instance
}

async function pendingOf(instances: readonly Instance[]): Promise<number> {
  const counts = await Promise.all(
    instances.map((instance) => metricOf(instance, /^gatehouse_events_pending (\d+)$/m)),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { type StoreDriver, storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'

/** A backend of which each path says what a request to it costs: `/field/30`, `/header/5`, `/silent`, `/plain`. */
async function start(t: Test, driver: StoreDriver) {
  const { gateway } = await startBoth(t, {
    driver,
    answer: ({ url = '' }, response) => {
      const [, kind, cost] = url.split('/')
      if (kind === 'header') response.setHeader('X-Cost', Number(cost))
      response.setHeader('Content-Type', 'text/event-stream')
      response.end(kind === 'silent' ? '' : `data: {"usage":{"total_tokens":${cost}}}\n\ndata: [DONE]\n\n`)
    },
    config: {
      plans: { trial: { quota: { limit: 100, per: 'month' } } },
      routes: ['field', 'header', 'silent', 'plain'].map((name) => ({
        ...{ name, path: `/${name}`, upstream: 'backend', auth: 'any' },
        ...{ costHeader: 'X-Cost', costField: 'usage.total_tokens' },
        quotaCounts: name === 'plain' ? 'requests' : 'units',
      })),
    },
  })
  const { account, secretKey } = await gateway.createAccount({ plan: 'trial' })
  const { id } = account
  const input = { name: 'agent', scopes: [], addresses: [], expiresAt: undefined }
  const quota = { limit: 50, per: 'day' } as const
  const agent = await gateway.operate(({ secretKeys }) => secretKeys.create(id, { ...input, quota }))
  const ask = async (key: string, path: string) => {
    const response = await fetch(`${gateway.url}/${path}`, { headers: { SecretKey: key } })
    await response.text()
    return response
  }
  /** What is used of the quotas of the plan and of the key. */
  const used = async (key = secretKey) => {
    const response = await fetch(`${gateway.url}/api/v1/accounts/usage`, { headers: { SecretKey: key } })
    // The cast is sound: see docs of the operation.
    const { plan, keyQuotas } = (await response.json()) as {
      readonly plan: { readonly quota: { readonly used: number } }
      readonly keyQuotas: readonly { readonly used: number }[]
    }
    return [plan.quota.used, keyQuotas[0]?.used]
  }
  const spent = (plan: number, key: number) =>
    until(`${plan} and ${key} are spent`, async () => {
      const [ofPlan, ofKey] = await used()
      return (ofPlan === plan && ofKey === key) || undefined
    })
  return { gateway, id, secretKey, agent, ask, spent }
}

for (const driver of storeDrivers)
  t.test(`${driver}: quotas of keys and plans count what requests cost where a route says so`, async (t) => {
    const { gateway, id, secretKey, agent, ask, spent } = await start(t, driver)
    const first = await ask(agent, 'field/30')
    t.equal(first.status, 200)
    t.match(first.headers.get('ratelimit-policy'), /^"key-quota";q=50;w=86400, "quota";q=100;/)
    await spent(30, 30)
    t.equal((await ask(agent, 'header/5')).status, 200)
    await spent(35, 35)
    t.equal((await ask(agent, 'silent')).status, 200)
    await spent(36, 36)
    t.equal((await ask(agent, 'field/0')).status, 200)
    t.equal((await ask(agent, 'plain/1000')).status, 200)
    await spent(37, 37)

    t.equal((await ask(agent, 'field/40')).status, 200, 'something is left')
    await spent(77, 77)
    const refused = await ask(agent, 'field/1')
    t.equal(refused.status, 429, 'the key has spent more than it may')
    t.match(refused.headers.get('ratelimit'), /^"key-quota";r=0;/)
    const { key: second } = await gateway.operate(({ secretKeys }) => secretKeys.rotate(id, 'agent', 0))
    t.equal((await ask(second, 'field/1')).status, 429, 'rotated, it still has')

    t.equal((await ask(secretKey, 'field/23')).status, 200, 'what the plan has left')
    await spent(100, 77)
    const over = await ask(secretKey, 'field/1')
    t.equal(over.status, 429)
    t.match(over.headers.get('ratelimit'), /^"quota";r=0;/)
  })

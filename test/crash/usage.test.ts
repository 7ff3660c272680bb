import t from 'tap'
import { serve } from '../cli/run.ts'
import { createWorkspaceOn } from '../cli/workspace.ts'
import { startBackend } from '../setup/backend.ts'
import { storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'

// slow: kills many gateways

interface Shown {
  readonly days: readonly { readonly requests: number }[]
}

t.setTimeout(120_000)

for (const driver of storeDrivers) {
  t.test(`a killed gateway loses the usage of at most two seconds, on ${driver}`, async (t) => {
    const backend = await startBackend(t)
    const workspace = await createWorkspaceOn(t, driver)
    const args = ['--config', workspace.config, '--set', `upstreams.backend.targets[0].url=${backend.url}`]
    const created = await workspace.run('accounts', 'create', '--email', 'ada@example.com', '--json')
    const { id, secretKey } = created.json() as { readonly id: string; readonly secretKey: string }
    const used = async () => {
      const { days } = (await workspace.run('usage', id, '--json')).json() as Shown
      return days.reduce((sum, { requests }) => sum + requests, 0)
    }
    const gateway = await serve(t, args, { cwd: workspace.folder })
    const call = async (url: string) => {
      const response = await fetch(`${url}/x`, { headers: { SecretKey: secretKey } })
      await response.text()
      if (response.status !== 200) throw new Error(`status ${response.status}`)
    }
    const answeredAt: number[] = []
    const startedAt = performance.now()
    // Longer than what may be lost, and to a moment that has nothing to do with when counts are written.
    const untilAt = startedAt + 2_500 + Math.random() * 1_000
    while (performance.now() < untilAt) {
      await call(gateway.url)
      answeredAt.push(performance.now())
    }
    gateway.child.kill('SIGKILL')
    const killedAt = performance.now()
    await gateway.ended
    const kept = await used()
    const before = answeredAt.filter((at) => at < killedAt - 2_000).length
    t.ok(before > 0, `${before} of ${answeredAt.length} requests were earlier`)
    t.ok(kept >= before && kept <= answeredAt.length, `${kept} are counted`)

    const again = await serve(t, args, { cwd: workspace.folder })
    // It may accept requests before it has reached Redis: such a one is refused, and not counted.
    await until('it is served again', () =>
      call(again.url).then(
        () => true as const,
        () => undefined,
      ),
    )
    await until('the next one is counted on top', async () =>
      (await used()) === kept + 1 ? true : undefined,
    )
    await call(again.url)
    again.child.kill('SIGTERM')
    await again.ended
    t.equal(await used(), kept + 2, 'a shutdown loses nothing')
  })
}

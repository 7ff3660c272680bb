import t from 'tap'
import { startRedis } from '../setup/redis.ts'
import { openInspector, optionsOf } from '../store/redis/place.ts'
import { surviveKills } from './survive-kills.ts'

// slow: kills many gateways, and Redis

t.test('on Redis a kill at any moment loses no answered write and leaves none half-done', async (t) => {
  const server = await startRedis(t)
  await surviveKills(t, { store: { driver: 'redis', ...optionsOf(server) }, rounds: 15, withinMs: 8_000 })
  const inspector = openInspector(t, server)
  const accounts = await inspector.zcard('gh:{account}:ids')
  t.equal(await inspector.hlen('gh:{account}:emails'), accounts)
  t.equal((await inspector.keys('gh:{account}:account:*')).length, accounts)
})

t.test('a kill of Redis with appendfsync always loses no answered write', async (t) => {
  const server = await startRedis(t, ['--appendonly', 'yes', '--appendfsync', 'always'])
  await surviveKills(t, {
    store: { driver: 'redis', ...optionsOf(server) },
    rounds: 8,
    withinMs: 8_000,
    kill: () => server.signal('SIGKILL'),
    between: async () => {
      await server.stop()
      await server.start()
    },
  })
})

import t from 'tap'
import { until } from '../../setup/net.ts'
import { redisCommand } from '../../setup/redis.ts'
import { startSentinel } from '../../setup/sentinel.ts'
import { runStoreSuite } from '../suite.ts'
import { credentials, userArgs } from './acl-user.ts'
import { certificate, writeCertificate } from './certificate.ts'
import { surviveFailover } from './failover.ts'
import { optionsOf, prefixedPlaces } from './place.ts'

// slow: Redis Sentinel fails over many times

// Servers that find each other and fail over take longer than other tests.
t.setTimeout(120_000)

const { servers, sentinelPorts, masterName, masterPort } = await startSentinel(t, {
  args: userArgs,
  tls: writeCertificate(t),
})
const nodes = sentinelPorts.map((port) => ({ host: '127.0.0.1', port }))
const options = optionsOf(
  { url: '' },
  {
    topology: { kind: 'sentinel', name: masterName, nodes, password: undefined },
    tls: { verify: true, ca: certificate },
    ...credentials,
  },
)

t.test('a master that Sentinel names is one store', async (t) => {
  runStoreSuite(t, prefixedPlaces({ ...options, replicas: 2 }))
})

t.test('when the master dies the store goes on with its heir, and nothing answered is lost', async (t) => {
  await surviveFailover(t, options, async () => {
    await servers[0]?.stop('SIGKILL')
    const heirPort = await until(
      'there is an heir',
      async () => [await masterPort()].find((port) => port !== servers[0]?.tlsPort),
      30_000,
    )
    // Sentinel takes up to ten seconds to reconfigure the other replica, and without one no change is answered.
    const other = servers.slice(1).find(({ tlsPort }) => tlsPort !== heirPort)
    await redisCommand(other?.port ?? 0, `REPLICAOF 127.0.0.1 ${heirPort}`)
  })
})

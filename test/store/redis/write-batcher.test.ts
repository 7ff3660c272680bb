import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { openClient } from '#store/redis/client.ts'
import { createWriteBatcher } from '#store/redis/command-client.ts'
import { startRedis } from '../../setup/redis.ts'
import { optionsOf } from './place.ts'

const server = await startRedis(t)

function openGathering(t: Test) {
  const { client, close } = openClient(optionsOf(server, { commandTimeoutMs: 250 }))
  t.teardown(close)
  if (!(client instanceof Redis)) throw new Error('not alone')
  return { client, gather: createWriteBatcher(client) }
}

t.test('commands of one turn of the event loop are sent together at its end, and answered', async (t) => {
  const { client, gather } = openGathering(t)
  await once(client, 'ready')
  for (let turns = 0; turns < 2; turns++) {
    const answers = ['a', 'b', 'c'].map((text) => {
      gather()
      return client.echo(text)
    })
    t.equal(client.stream.writableCorked, 1)
    t.ok(client.stream.writableLength > 0)
    await turn()
    t.equal(client.stream.writableCorked, 0)
    t.strictSame(await Promise.all(answers), ['a', 'b', 'c'])
  }
})

t.test('a connection that is lost in between is none the worse', async (t) => {
  const { client, gather } = openGathering(t)
  await once(client, 'ready')
  gather()
  client.echo('lost').catch(() => {})
  client.stream.destroy()
  await once(client, 'ready')
  gather()
  t.equal(await client.echo('next'), 'next')
  t.equal(client.stream.writableCorked, 0)
})

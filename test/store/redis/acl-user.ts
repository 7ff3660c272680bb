/**
 * The rights the user of Gatehouse needs in Redis, and no others: with them alone every test of a store passes,
 * on one server, behind Sentinel and in a Cluster. `gh:` is `store.redis.keyPrefix`: its keys, and its channel.
 */
const keysAndChannels = ['~gh:*', '&gh:*']

const commands = [
  // To see whether Redis is loading its data; from 7.2 on `client|setinfo` too spares entries in the ACL log.
  'info',
  'evalsha',
  'eval',
  'time',
  'get',
  'set',
  'del',
  'unlink',
  'incr',
  'exists',
  'pexpire',
  'pexpireat',
  'hget',
  'hset',
  'hsetnx',
  'hdel',
  'hexists',
  'hkeys',
  'hmget',
  'hgetall',
  'hscan',
  'hvals',
  'hincrby',
  'zadd',
  'zrem',
  'zcard',
  'zcount',
  'zscan',
  'zscore',
  'zrank',
  'zrevrange',
  'zrange',
  'zrevrank',
  'zrangebylex',
  'zremrangebyscore',
  'xadd',
  'xlen',
  'xdel',
  'xrange',
  'xrevrange',
  'publish',
  'subscribe',
]

/** What only some need: a database in the URL, `store.redis.replicas`, a Cluster. */
export const commandsSometimes: readonly string[] = [
  'select',
  'wait',
  'cluster|slots',
  'cluster|info',
  'readonly',
  'asking',
]

export const commandsAlways: readonly string[] = commands

export const password = 'a p@ss:word/with?everything#'

/** Arguments of a server that knows this user. */
export const userArgs = [
  '--user',
  'gatehouse',
  'on',
  `>${password}`,
  ...keysAndChannels,
  '-@all',
  ...[...commands, ...commandsSometimes].map((command) => `+${command}`),
]

export const credentials = { username: 'gatehouse', password }

import {
  choice,
  either,
  exactly,
  flag,
  integer,
  item,
  list,
  optional,
  secret,
  section,
  text,
} from './fields.ts'

const nodes = (description: string) => list(text({ description: 'host:port' }), { minItems: 1, description })

const redis = item('Exactly one of url, sentinel and cluster.', {
  url: optional(
    either(
      text({ description: 'redis:// or rediss:// URL without a password.' }),
      secret({ description: 'The whole URL.' }),
      { description: 'One server: redis://host:port/db, or rediss:// for TLS; no password in the text.' },
    ),
  ),
  sentinel: optional(
    item('A master found through Sentinel.', {
      name: text({ description: 'Name of the master.' }),
      nodes: nodes('The sentinels.'),
      password: optional(secret({ description: 'Password of the sentinels themselves.' })),
    }),
  ),
  cluster: optional(item('A Redis Cluster.', { nodes: nodes('Some of its nodes.') })),
  username: optional(text({ description: 'ACL user.' })),
  password: optional(secret({ description: 'Password of the ACL user, or of the default user.' })),
  tls: optional(
    item('TLS to the servers of sentinel and cluster, or settings for the TLS of a rediss:// URL.', {
      verify: flag(true, "Whether the server's certificate is checked."),
      ca: optional(secret({ description: 'Certificates (PEM) to trust instead of the system ones.' })),
    }),
  ),
  replicas: either(
    exactly('auto'),
    integer({ minimum: 0, maximum: 10, description: 'A number of replicas.' }),
    {
      default: 'auto',
      description:
        'Replicas that must acknowledge a write (WAIT) before it is confirmed; auto = 1 with Sentinel or Cluster, 0 with one server.',
    },
  ),
  keyPrefix: text({
    pattern: '^[^{}\\s]{0,64}$',
    default: 'gh:',
    description: 'Prefix of every key and channel in Redis.',
  }),
})

export const store = section('Where accounts, sessions and signing keys are kept.', {
  driver: choice(['sqlite', 'redis'], {
    default: 'sqlite',
    description: 'sqlite for one instance, redis for many; absent = that of the section that is there.',
  }),
  sqlite: section('A database file on this machine.', {
    path: text({ default: '../data/gatehouse.db', description: 'Path of the database.' }),
  }),
  redis: optional(redis),
})

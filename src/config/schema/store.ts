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
    item('TLS to the servers of sentinel and cluster, or more about that of a rediss:// URL.', {
      verify: flag(true, "Whether the server's certificate is checked."),
      ca: optional(secret({ description: 'Certificates (PEM) to trust instead of the system ones.' })),
    }),
  ),
  replicas: either(exactly('auto'), integer({ minimum: 0, maximum: 10, description: 'So many.' }), {
    default: 'auto',
    description:
      'How many replicas must have a change before it is answered; auto = 1 behind Sentinel and in a Cluster, 0 for one server.',
  }),
  keyPrefix: text({
    pattern: '^[^{}\\s]{0,64}$',
    default: 'gh:',
    description: 'Put before every key and channel.',
  }),
})

export const store = section('Where accounts, sessions and signing keys are kept.', {
  driver: choice(['sqlite', 'redis'], {
    default: 'sqlite',
    description: 'sqlite for one instance, redis for many.',
  }),
  sqlite: section('A file on this machine.', {
    path: text({ default: '../data/gatehouse.db', description: 'Path of the database.' }),
  }),
  redis: optional(redis),
})

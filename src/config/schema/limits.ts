import { integer, rate, section, size } from './fields.ts'
import { renamed } from './node.ts'

export const limits = section('Bounds on what clients send.', {
  headers: renamed(
    'headBytesMax',
    size({
      min: '1KiB',
      max: '1MiB',
      default: '16KiB',
      description: 'Largest request head: request line and header fields together.',
    }),
  ),
  sessions: renamed(
    'sessionsMax',
    integer({
      minimum: 1,
      maximum: 1_000_000_000,
      default: 100,
      description: 'Maximum number of sessions per account; the oldest is revoked when it is exceeded.',
    }),
  ),
  streams: renamed(
    'streamsMax',
    integer({
      minimum: 1,
      maximum: 10_000,
      default: 100,
      description:
        'Maximum number of open requests on one HTTP/2 connection of a client; more wait. Should be less than `connections` of the upstreams.',
    }),
  ),
  bodyRate: renamed(
    'bodyRateMin',
    size({
      min: '1B',
      max: '1GiB',
      default: '500B',
      description: 'Minimum rate of a request body per second, averaged over 10 s; slower clients get 408.',
    }),
  ),
  failures: section(
    'Failed authentication attempts allowed per client address. Valid credentials are always accepted, except imported keys that this process has not seen yet, and tokens that need introspection.',
    rate({ min: '1s', max: '24h' }, { limit: 10, per: '1m' }),
  ),
})

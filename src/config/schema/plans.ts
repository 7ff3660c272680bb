import { choice, duration, integer, item, named, optional } from './fields.ts'

const plan = item('How much an account may use, over all routes and instances.', {
  quota: optional(
    item('Requests in a day or month; absent = unlimited.', {
      limit: integer({
        minimum: 1,
        maximum: 1_000_000_000_000,
        description: 'Number of requests; up to 1 % more may pass, but never more than 100.',
      }),
      per: choice(['day', 'month'], { description: 'UTC day or month.' }),
    }),
  ),
  rateLimit: optional(
    item('Rate limit, in addition to that of the route; absent = unlimited.', {
      limit: integer({ minimum: 1, maximum: 1_000_000_000, description: 'Burst size: how many at once.' }),
      per: duration({
        min: '100ms',
        max: '24h',
        description: 'Time in which a spent limit refills, at a steady rate.',
      }),
    }),
  ),
})

export const plans = named(plan, {
  default: {},
  description: 'Plans that accounts may have, by name; an account without one is not limited.',
})

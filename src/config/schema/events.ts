import { webhookKeyOf, webhookSecretBytes } from '#accounts/events/event-message.ts'
import { allEventTypes, isTypePattern } from '#accounts/events/event-types.ts'
import { didYouMean } from '#platform/text.ts'
import { flag, item, list, secret, text } from './fields.ts'
import type { ValueOf } from './node.ts'
import type { Review } from './review.ts'

export const events = list(
  item('A receiver of events.', {
    url: text({
      description:
        'Where events are posted to: http:// or https://, without user and fragment; no redirect is followed.',
    }),
    secret: secret({
      description:
        'Signs every event (HMAC-SHA-256, by Standard Webhooks): whsec_ and 24 to 64 bytes in base64, or a text of that length.',
    }),
    types: list(
      text({
        description:
          'A type of event, such as account.disabled or audit.signed-in; key.* = all that begin with key., * = all.',
      }),
      {
        minItems: 1,
        maxItems: 100,
        description: 'Which events it gets.',
      },
    ),
    allowLocal: flag(
      false,
      'Whether the host name in the URL may resolve to a loopback or link-local address or a metadata service; not needed if the URL itself names such an address, or localhost.',
    ),
  }),
  {
    default: [],
    maxItems: 20,
    description: 'Receivers of events: changes to keys, accounts and sessions.',
  },
)

type EventsTree = { readonly events: ValueOf<typeof events> }

/** Checks that events can be posted to each receiver, and signed for it. */
export function reviewEvents(review: Review<EventsTree>): void {
  if (!review.hasValidShape(['events'])) return
  const urls = new Set<string>()
  for (const [index, receiver] of review.tree.events.entries()) {
    const at = ['events', index]
    review.check([...at, 'url'], () => {
      const { url } = receiver
      if (urls.has(url)) return 'is the URL of another receiver too'
      urls.add(url)
      return urlProblem(url)
    })
    review.check([...at, 'secret'], () => {
      const text = review.secret([...at, 'secret'], receiver.secret)
      return text === undefined ? undefined : secretProblem(text)
    })
    if (review.hasValidShape([...at, 'types'])) reviewTypes(review, index)
  }
}

function reviewTypes(review: Review<EventsTree>, index: number): void {
  for (const [place, type] of (review.tree.events[index]?.types ?? []).entries()) {
    const at = ['events', index, 'types', place]
    review.check(at, () =>
      isTypePattern(type) ? undefined : `unknown type of event "${type}"${didYouMean(type, allEventTypes)}`,
    )
  }
}

function urlProblem(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.hostname === '')
    return 'must be a URL such as https://hooks.example.com/gatehouse'
  if (url.username || url.password) return 'must not contain credentials: events are signed with the secret'
  return url.hash ? 'must have no fragment' : undefined
}

function secretProblem(text: string): string | undefined {
  const base64 = /^whsec_(.*)$/s.exec(text)?.[1]
  if (base64 !== undefined && !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return 'must be base64 after whsec_'
  const { length } = webhookKeyOf(text)
  const { min, max } = webhookSecretBytes
  if (length >= min && length <= max) return undefined
  return `must have ${min} to ${max} bytes, not ${length}: make one by "openssl rand -base64 32" and put whsec_ before it`
}

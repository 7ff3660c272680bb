import { type EpochMs, isDay } from '#platform/time.ts'
import type { Path, Warning } from '../problem.ts'
import { item, list, text } from './fields.ts'
import { convertResolved, optional, type ValueOf } from './node.ts'
import type { Review } from './review.ts'

const uri = (description: string) => text({ pattern: '^[!-~]+$', description })

/** One field a line (RFC 9116 2). Its names are the options, with a hyphen before a capital letter. */
export const securityTxt = optional(
  convertResolved(
    item('Content of /.well-known/security.txt (RFC 9116); absent = the path is free for routes.', {
      contact: list(uri('An address to report vulnerabilities to: mailto:, https:// or tel:.'), {
        minItems: 1,
        maxItems: 20,
        uniqueItems: true,
        description: 'Where to report vulnerabilities, the preferred way first.',
      }),
      expires: text({
        pattern: String.raw`^\d{4}-\d{2}-\d{2}$`,
        description: 'Last day (UTC) on which the file is valid, such as 2027-06-30; less than a year ahead.',
      }),
      encryption: optional(uri('URI of the key to encrypt reports with.')),
      policy: optional(uri('URL of the disclosure policy.')),
      acknowledgments: optional(uri('URL of the acknowledgements.')),
      preferredLanguages: optional(
        list(
          text({ pattern: '^[A-Za-z0-9]{1,8}(?:-[A-Za-z0-9]{1,8}){0,5}$', description: 'A language tag.' }),
          {
            minItems: 1,
            maxItems: 20,
            uniqueItems: true,
            description: 'Languages that reports may be in, such as [en, de].',
          },
        ),
      ),
    }),
    ({ contact, expires, encryption, policy, acknowledgments, preferredLanguages }) =>
      [
        ...contact.map((address) => `Contact: ${address}`),
        `Expires: ${expires}T23:59:59Z`,
        ...(encryption === undefined ? [] : [`Encryption: ${encryption}`]),
        ...(policy === undefined ? [] : [`Policy: ${policy}`]),
        ...(acknowledgments === undefined ? [] : [`Acknowledgments: ${acknowledgments}`]),
        ...(preferredLanguages ? [`Preferred-Languages: ${preferredLanguages.join(', ')}`] : []),
        '',
      ].join('\n'),
  ),
)

type SecurityTxtTree = { readonly securityTxt?: ValueOf<typeof securityTxt> }

/** Checks that readers of security.txt can use what it says (RFC 9116 2.5). */
export function reviewSecurityTxt(review: Review<SecurityTxtTree>): void {
  const section = 'securityTxt'
  const { [section]: tree } = review.tree
  if (!tree || !review.hasValidShape([section])) return
  if (review.hasValidShape([section, 'contact']))
    for (const [index, address] of tree.contact.entries())
      reviewUri(review, [section, 'contact', index], address)
  for (const name of ['encryption', 'policy', 'acknowledgments'] as const)
    reviewUri(review, [section, name], tree[name])
  review.check([section, 'expires'], () => (isDay(tree.expires) ? undefined : 'is not a valid date'))
}

function reviewUri(review: Review<SecurityTxtTree>, path: Path, text: string | undefined): void {
  if (text !== undefined) review.check(path, () => uriProblem(text))
}

function uriProblem(text: string): string | undefined {
  const scheme = URL.parse(text)?.protocol
  if (scheme !== undefined && scheme !== 'http:') return undefined
  return text.includes('@')
    ? `must be a URI: mailto:${text}`
    : 'must be a URI, and begin with https:// if it is a page'
}

export function findExpiredSecurityTxt({ securityTxt }: SecurityTxtTree, now: EpochMs): Warning[] {
  if (!securityTxt || now < Date.parse(`${securityTxt.expires}T23:59:59Z`)) return []
  const message = `security.txt has expired: its readers need not trust it`
  return [{ path: ['securityTxt', 'expires'], message, hint: 'check the contacts and set a later day' }]
}

import { parseRequestTarget } from '../../routes/request-target.ts'
import type { Review } from '../review.ts'
import { reviewOidc } from './oidc.ts'
import { reviewCertificates } from './upstreams.ts'

/** Checks that the portal path does not overlap with other own paths, and that the mail options are consistent. */
export function reviewPortal(review: Review): void {
  if (review.isValid(['portal', 'path'])) {
    const { path } = review.tree.portal
    const isPlain = parseRequestTarget(path)?.path === path
    if (!isPlain) review.report(['portal', 'path'], 'must be a plain path without dot segments')
    else if (isReserved(path)) {
      review.report(['portal', 'path'], 'must not be at, above or below /api/v1 or /.well-known')
    }
  }
  reviewOidc(review)
  reviewMail(review)
}

function reviewMail(review: Review): void {
  const { mail } = review.tree
  if (!mail || !review.hasValidShape(['mail'])) return
  const isValid = (...fields: readonly string[]) => review.isValid(['mail', ...fields])
  if (mail.password && isValid('password')) review.secret(['mail', 'password'], mail.password)
  const isPaired = (mail.username === undefined) === (mail.password === undefined)
  if (!isPaired && isValid('username') && isValid('password')) {
    review.report(['mail'], 'username and password go together')
  }
  if (isValid('from') && !/^[^\s<>@]+@[^\s<>@]+$/.test(mail.from)) {
    review.report(['mail', 'from'], 'must be an e-mail address such as gatehouse@example.com')
  }
  if (isValid('tls', 'ca') && mail.tls.ca) reviewCertificates(review, ['mail', 'tls', 'ca'], mail.tls.ca)
}

function isReserved(path: string): boolean {
  const isWithin = (one: string, other: string) => `${one}/`.startsWith(`${other}/`)
  return ['/api/v1', '/.well-known'].some((own) => isWithin(path, own) || isWithin(own, path))
}

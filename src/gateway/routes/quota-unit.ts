/** What a quota is a number of. */
export type QuotaUnit = 'requests' | 'units'

/** Units as soon as one route spends them; on the others a request is one unit. */
export function quotaUnitOf(routes: readonly { readonly quotaCounts: QuotaUnit }[]): QuotaUnit {
  return routes.some(({ quotaCounts }) => quotaCounts === 'units') ? 'units' : 'requests'
}

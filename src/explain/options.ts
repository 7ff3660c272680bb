import { parseHostName } from '../http/arrival.ts'
import { readRequestFields } from '../http/request-fields.ts'
import { type Route, usualMethods } from '../routes/route.ts'
import type { AskedRequest } from './explanation.ts'
import type { Trail } from './trail.ts'

/** Explains `OPTIONS *`. @throws GatehouseError `request-invalid` */
export function tellAboutServer({ rawHeaders }: AskedRequest, trail: Trail): 'no-content' {
  trail.begin('request')
  const host = parseHostName(readRequestFields(rawHeaders))
  trail.pass('request', { detail: `about the gateway as a whole, host ${host}`, facts: { host } }, 'route')
  trail.enter('_gateway')
  trail.pass('route', told(usualMethods))
  return 'no-content'
}

/** Explains OPTIONS with `Max-Forwards: 0` on a route that lets it pass. */
export function tellFinalRecipient({ methods }: Route<unknown>, trail: Trail): 'no-content' {
  trail.pass('upstream', told([...(methods ?? usualMethods)].toSorted()))
  return 'no-content'
}

function told(methods: readonly string[]) {
  return { detail: `the gateway answers itself; methods: ${methods.join(', ')}`, facts: { methods } }
}

import { parseHostName } from '../http/host.ts'
import { readRequestFields } from '../http/request-fields.ts'
import { type Route, standardMethods } from '../routes/route.ts'
import type { DecisionTrace } from './decision-trace.ts'
import type { ExplainedRequest } from './explanation.ts'

/** Explains `OPTIONS *`. @throws GatehouseError `request-invalid` */
export function explainServerOptions({ rawHeaders }: ExplainedRequest, trace: DecisionTrace): 'no-content' {
  trace.beginStep('request')
  const host = parseHostName(readRequestFields(rawHeaders))
  trace.passStep(
    'request',
    { detail: `about the gateway as a whole, host ${host}`, facts: { host } },
    'route',
  )
  trace.setRoute('_gateway')
  trace.passStep('route', describeMethods(standardMethods))
  return 'no-content'
}

/** Explains OPTIONS with `Max-Forwards: 0` on a route that admits it. */
export function explainMaxForwards({ methods }: Route<unknown>, trace: DecisionTrace): 'no-content' {
  trace.passStep('upstream', describeMethods([...(methods ?? standardMethods)].toSorted()))
  return 'no-content'
}

function describeMethods(methods: readonly string[]) {
  return { detail: `answered by the gateway; methods: ${methods.join(', ')}`, facts: { methods } }
}

import { framingTable } from '#http/message/name-table.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { dateLine } from '#platform/http.ts'
import { type Arrival, type ArrivalReader, createArrival } from '../arrival/arrival.ts'
import { recordRouteName, recordStatus } from '../arrival/outcome.ts'
import { answerProblem } from '../refusals/send-problem.ts'
import { parseHostName } from '../routes/hosts.ts'
import { requireTarget } from '../routes/request-target.ts'
import { ownRouteName } from '../routes/route.ts'
import { type ArrivalServer, createArrivalServer, type ListenerOptions } from './arrival-server.ts'
import type { Observer } from './observe.ts'

/** How requests over plain HTTP are redirected under one config. */
export interface RedirectTraffic extends ArrivalReader {
  readonly observer: Observer
  /** The origin of `publicUrl`. */
  readonly publicOrigin: string
}

/** The listener for plain HTTP beside one with TLS: it redirects, and accepts no credential. */
export function createRedirectServer(options: ListenerOptions<RedirectTraffic>): ArrivalServer {
  return createArrivalServer<RedirectTraffic, Arrival>(options, {
    names: () => framingTable,
    read: createArrival,
    handle: redirect,
    refuse: answerProblem,
    abort: answerProblem,
    // Every connection ends with its first response.
    startDrain: () => {},
  })
}

/**
 * Redirects GET and HEAD to the same path at the public origin, whatever the Host of the request is. Other methods are
 * refused: a client that is always redirected would send its bodies in the clear each time before it follows.
 * @throws GatehouseError `method-not-allowed`, `path-ambiguous`, `request-invalid`
 */
function redirect({ exchange, head, fields, outcome, requestId }: Arrival, traffic: RedirectTraffic): void {
  const { publicOrigin } = traffic
  recordRouteName(outcome, ownRouteName)
  exchange.closeAfterAnswer()
  if (head.method !== 'GET' && head.method !== 'HEAD')
    throw new GatehouseError('method-not-allowed', {
      allow: ['GET', 'HEAD'],
      detail: `This port only redirects GET and HEAD. Send requests to ${publicOrigin}, and replace credentials that came here unencrypted.`,
    })
  parseHostName(fields)
  const target = requireTarget(head.target)
  recordStatus(outcome, 308)
  const location = `Location: ${publicOrigin}${target.sentPath}${target.query}\r\n`
  const lines = `${location}X-Request-Id: ${requestId}\r\n${dateLine()}Content-Length: 0\r\n`
  exchange.respond(308, 'Permanent Redirect', lines, 'none')
  exchange.end()
}

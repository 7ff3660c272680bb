import { type ClientExchange, isExtendedConnect } from '#http/client-exchange.ts'
import { changedHead, type RequestHead } from '#http/request-head.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { type Arrival, type ArrivalReader, createArrival } from '../arrival/arrival.ts'
import type { RequestFields } from '../arrival/request-fields.ts'
import { toGatehouseError } from '../refusals/send-problem.ts'
import {
  asksFor403,
  createAliasCheck,
  type Description,
  endpointOf,
  readDescription,
  readEnvoyDescription,
} from './description.ts'

/** A request that a proxy has described. The connection is only used to send the answer. */
export interface DecideArrival extends Arrival {
  /** What the proxy sent; `head` is what it described. */
  readonly sentHead: RequestHead
  /** Why there is nothing to decide about; undefined = there is. */
  readonly problem: GatehouseError | undefined
  /** The status that every refusal but 401 gets; undefined = its own. */
  readonly refusalStatus: number | undefined
}

export type ReadDecideArrival = (connection: ClientExchange, head: RequestHead) => DecideArrival

interface DecideArrivalOptions extends ArrivalReader {
  /** Names of the headers that the proxy sets on an allowed request. */
  readonly identityNames: readonly string[]
  /** Called if the peer that asks is not a trusted proxy. */
  onUntrusted(peerAddress: string): void
}

/** The body of a described request is unknown: the proxy does not send it. */
const noBody = { kind: 'none', isEmpty: false } as const
const forbidden = 403

/** Reads what trusted proxies describe; anything else becomes a request with a problem. */
export function createDecideArrivalReader({
  trusted,
  fieldReader,
  identityNames,
  onUntrusted,
}: DecideArrivalOptions): ReadDecideArrival {
  const { carriers } = fieldReader
  const assertNoAliases = createAliasCheck(identityNames)
  const readChecked = (rawHeaders: readonly string[]): Description => {
    assertNoAliases(rawHeaders)
    return readDescription(rawHeaders)
  }

  function describe(head: RequestHead, fields: RequestFields): Description {
    if (endpointOf(head) === 'decide') return readChecked(head.rawHeaders)
    assertNoAliases(head.rawHeaders)
    return readEnvoyDescription(head, fields.host, fields.uncommon.isHostRepeated)
  }

  return function readDecideArrival(connection, sentHead) {
    const sentFields = fieldReader.read(sentHead)
    const deniesWith403 = asksFor403(sentHead.target) ? forbidden : undefined
    if (!trusted.has(connection.peerAddress)) {
      onUntrusted(connection.peerAddress)
      return unreadable(createArrival(connection, sentHead, { trusted, fieldReader }), untrusted)
    }
    try {
      if (isExtendedConnect(connection, sentHead)) throw tunnelRefused
      const { method, target, host } = describe(sentHead, sentFields)
      const head = changedHead(sentHead, { method, target, body: noBody, expectsContinue: false })
      const uncommon = { ...sentFields.uncommon, isHostRepeated: false, forwardedHost: host }
      const fields = { ...sentFields, host, uncommon }
      const arrival = createArrival(connection, head, {
        trusted,
        fieldReader: { carriers, read: () => fields },
      })
      return { ...arrival, sentHead, problem: undefined, refusalStatus: deniesWith403 }
    } catch (error) {
      return unreadable(
        createArrival(connection, sentHead, { trusted, fieldReader }),
        toGatehouseError(error),
      )
    }
  }
}

/** The proxy gets a 403, as most know only this and 401. The log says what is wrong. */
function unreadable(arrival: Arrival, problem: GatehouseError): DecideArrival {
  return { ...arrival, sentHead: arrival.head, problem, refusalStatus: forbidden }
}

const tunnelRefused = new GatehouseError('method-not-allowed', { allow: ['GET', 'POST'] })

const untrusted = new GatehouseError('address-forbidden', {
  detail: 'Only the addresses in trustedProxies may ask for decisions.',
})

import type { Config } from '#config/config.ts'
import { createArrival, type GatedArrival } from '#gateway/arrival/arrival.ts'
import { createFieldReader } from '#gateway/arrival/request-fields.ts'
import { trustedRequestId } from '#gateway/arrival/request-id.ts'
import { malformedError } from '#gateway/refusals/send-problem.ts'
import { MalformedMessage, type RequestHead } from '#http/request-head.ts'
import { readRequestFraming } from '#http/server/request-framing.ts'
import { createCarriers } from '#identity/carriers.ts'
import { createAddressSet, unmappedAddress } from '#platform/addresses.ts'

/** A request to be explained; it is never sent. */
export interface ExplainedRequest {
  readonly method: string
  /** In origin form, as it would be sent. */
  readonly target: string
  /** Name, value, name, value, as they would be received. */
  readonly rawHeaders: readonly string[]
  /** Address of the other end of the connection. */
  readonly peer: string
  /** The listener that it comes to: `decide` = another proxy describes it, and would forward it. */
  readonly listener: 'main' | 'decide'
}

/** A request that is explained: it came by no connection, and with no certificate. */
export type ExplainedArrival = GatedArrival

/** Stands for what is new for each request. */
export const perRequestValue = '(new for each request)'

/** @throws GatehouseError `request-invalid` */
export function readArrival(
  request: ExplainedRequest,
  { listen, trustedProxies, keys }: Config,
): ExplainedArrival {
  const peerAddress = unmappedAddress(request.peer)
  const protocol = listen.tls ? 'https' : 'http'
  const connection = { peerAddress, protocol, clientCertificate: undefined } as const
  const arrival = createArrival(connection, readHead(request), {
    trusted: createAddressSet(trustedProxies),
    fieldReader: createFieldReader(createCarriers(keys.accept)),
  })
  const requestId = trustedRequestId(arrival.fields.uncommon, arrival.client.isTrusted) ?? perRequestValue
  return { ...arrival, requestId }
}

/** The head as the gateway would read it: HTTP/1.1, framed by its headers. */
function readHead({ method, target, rawHeaders }: ExplainedRequest): RequestHead {
  try {
    return {
      method,
      target,
      minorVersion: 1,
      rawHeaders,
      ...readRequestFraming(rawHeaders, 1),
    }
  } catch (error) {
    if (error instanceof MalformedMessage) throw malformedError(error)
    throw error
  }
}

import {
  type BodyTooSlow,
  changedHead,
  type MalformedMessage,
  type RequestBody,
  type RequestHead,
  withoutFields,
} from '#http/request-head.ts'
import { clientNetwork } from '#platform/addresses.ts'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Arrival } from '../arrival/arrival.ts'
import { principalOf, recordReason } from '../arrival/outcome.ts'
import { isFixed, mayAskForStream, withUsageAsked } from '../forward/asked-usage.ts'
import { type HeldBodies, heldBytesMax } from '../forward/held-bodies.ts'
import type { HeldBody } from '../forward/pending-body.ts'
import { isLastOnConnection, type RequestHeadInput } from '../forward/upstream-head.ts'
import { toGatehouseError } from '../refusals/send-problem.ts'
import type { Route } from '../routes/route.ts'

/** An admitted request, as it will be sent. */
export interface AdmittedRequest<Upstream> {
  readonly route: Route<Upstream>
  readonly arrival: Arrival
  readonly headInput: RequestHeadInput
  /** undefined = nothing of its body has been read. */
  readonly heldBody?: HeldBody
}

interface AskEvents<Upstream> {
  send(request: AdmittedRequest<Upstream>): void
  fail(error: GatehouseError | MalformedMessage | BodyTooSlow): void
}

/**
 * Sends a request. If it asks for a stream without asking for its usage, the member that does is added (withUsageAsked).
 * A body that may need the member is read first; one that is too large for that is sent as it comes, and the log says
 * so.
 */
export function askForUsage<Upstream>(
  bodies: HeldBodies,
  request: AdmittedRequest<Upstream>,
  { send, fail }: AskEvents<Upstream>,
): void {
  const { arrival, route } = request
  const { connection, head, client, outcome } = arrival
  if (!mayAskForStream(head)) {
    send(request)
    return
  }
  if (head.body.kind === 'counted' && head.body.length > heldBytesMax) {
    recordReason(outcome, tooLarge)
    send(request)
    return
  }
  const caller = principalOf(outcome)?.accountId ?? clientNetwork(client.address)
  bodies.hold(
    { caller, connection, head, bodyBytesMax: route.bodyBytesMax },
    {
      onHeld: (body) => {
        if (!body.isWhole) recordReason(outcome, tooLarge)
        try {
          send(withHeldBody(request, body))
        } catch (error) {
          body.release()
          fail(toGatehouseError(error))
        }
      },
      onFailed: fail,
    },
  )
}

const tooLarge = 'the body is too large for includeUsage, so its stream was not asked for its usage'

/** The request with its body, which asks for usage if it may. The client has been sent its 100. */
function withHeldBody<Upstream>(
  { route, arrival, headInput }: AdmittedRequest<Upstream>,
  heldBody: HeldBody,
): AdmittedRequest<Upstream> {
  const [bytes] = heldBody.chunks
  const asked =
    bytes === undefined || !heldBody.isWhole || isFixed(heldBody.trailers ?? [])
      ? undefined
      : withUsageAsked(bytes)
  if (asked) heldBody.replace(asked)
  const body = asked ? lengthened(arrival.head, asked) : arrival.head.body
  const head = changedHead(arrival.head, { body, expectsContinue: false })
  const rawHeaders = withoutFields(headInput.rawHeaders, (name) => name === 'expect')
  const isLast = isLastOnConnection(head, route)
  return {
    route,
    arrival: { ...arrival, head },
    headInput: { ...headInput, rawHeaders, body, isLast },
    heldBody,
  }
}

function lengthened({ body }: Pick<RequestHead, 'body'>, parts: readonly Buffer[]): RequestBody {
  if (body.kind !== 'counted') return body
  return { kind: 'counted', length: parts.reduce((sum, { length }) => sum + length, 0) }
}

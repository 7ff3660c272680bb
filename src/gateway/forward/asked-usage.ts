import { isUtf8 } from 'node:buffer'
import {
  type BodyTooSlow,
  changedHead,
  fieldsIn,
  type MalformedMessage,
  onlyValueOf,
  type RequestBody,
  type RequestHead,
  valuesOf,
  withoutFields,
} from '#http/request-head.ts'
import { clientNetwork } from '#platform/addresses.ts'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Arrival } from '../arrival/arrival.ts'
import { principalOf, recordReason } from '../arrival/outcome.ts'
import { toGatehouseError } from '../refusals/send-problem.ts'
import type { Route } from '../routes/route.ts'
import { isLastOnConnection } from './connection-lines.ts'
import { type HeldBodies, heldBytesMax } from './held-bodies.ts'
import { fieldTree, objectEnd, objectStart } from './json-fields.ts'
import { findJsonFields, spaceEnd } from './json-text.ts'
import type { HeldBody } from './pending-body.ts'
import type { RequestHeadInput } from './upstream-head.ts'

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
 * Sends a request. If it asks for a stream without asking for its usage, the member that does is added
 * (withUsageAsked). A body that may need the member is read first; one that is too large for that is sent as it comes,
 * and the log says so.
 */
export function askForUsage<Upstream>(
  bodies: HeldBodies,
  request: AdmittedRequest<Upstream>,
  { send, fail }: AskEvents<Upstream>,
): void {
  const { arrival, route } = request
  const { exchange, head, client, outcome } = arrival
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
    { caller, exchange, head, bodyBytesMax: route.bodyBytesMax },
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
    bytes === undefined || !heldBody.isWhole || fixesBody(heldBody.trailers ?? [])
      ? undefined
      : withUsageAsked(bytes)
  if (asked) heldBody.replace(asked)
  const body = asked ? lengthened(arrival.head, heldBody.bytes) : arrival.head.body
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

function lengthened({ body }: Pick<RequestHead, 'body'>, length: number): RequestBody {
  return body.kind === 'counted' ? { kind: 'counted', length } : body
}

/**
 * Whether a request may ask a language model for a stream, so that its body is looked at: it is a POST of JSON, not
 * compressed, and without a field that says what its bytes are.
 */
export function mayAskForStream({ method, rawHeaders, body }: RequestHead): boolean {
  if (method !== 'POST' || body.kind === 'none') return false
  if (!isJson.test(onlyValueOf(rawHeaders, 'content-type') ?? '')) return false
  return !fixesBody(rawHeaders) && valuesOf(rawHeaders, 'content-encoding').every(isIdentity)
}

const isJson = /^application\/(?:json|[\w.-]{1,64}\+json)[ \t]*(?:;|$)/i

function isIdentity(coding: string): boolean {
  return /^(?:identity)?$/i.test(coding)
}

/** Fields that are a digest or signature of the body, or say which part of something it is. */
const fixingNames: ReadonlySet<string> = new Set([
  'content-digest',
  'content-md5',
  'content-range',
  'digest',
  'repr-digest',
  'signature',
  'signature-input',
  'x-amz-content-sha256',
  'x-content-sha256',
  'x-hub-signature',
  'x-hub-signature-256',
  'x-signature',
])

/** Schemes of Authorization that sign the body. */
const signsBody = /^(?:aws4-|hmac|signature)/i

/** Whether fields of a head, or of trailers, say what the bytes of the body are, so that they must not change. */
export function fixesBody(fields: readonly string[]): boolean {
  for (const [name, value] of fieldsIn(fields)) {
    const lower = name.toLowerCase()
    if (fixingNames.has(lower) || (lower === 'authorization' && signsBody.test(value))) return true
  }
  return false
}

const field = { stream: 0, options: 1, usage: 2 } as const
const tree = fieldTree([['stream'], ['stream_options'], ['stream_options.include_usage']])
const usageMember = '"include_usage":true'

interface Place {
  readonly start: number
  /** `start` = it is an object or array. */
  readonly end: number
}

/**
 * The body of a request for a stream with OpenAI's `stream_options.include_usage`, in parts: all its bytes but this one
 * member are as they were. A value other than `true` there is replaced.
 * @returns undefined if the body is to stay as it is: it asks for no stream or for its usage already, is not a JSON
 *   object, or has one of these members twice, of which one server would read the first and another the last
 */
export function withUsageAsked(body: Buffer): readonly Buffer[] | undefined {
  const places: Place[] = []
  let isRepeated = false
  const isObject = findJsonFields(body, tree, (name, start, end) => {
    isRepeated ||= places[name] !== undefined
    places[name] = { start, end }
  })
  const { [field.stream]: stream, [field.options]: options, [field.usage]: usage } = places
  if (!isObject || isRepeated || textAt(body, stream) !== 'true' || !isUtf8(body)) return undefined
  if (usage !== undefined) {
    const value = textAt(body, usage)
    return value === '' || value === 'true' ? undefined : replaced(body, usage, 'true')
  }
  if (options === undefined)
    return inserted(body, spaceEnd(body, 0) + 1, `"stream_options":{${usageMember}},`)
  if (textAt(body, options) === 'null') return replaced(body, options, `{${usageMember}}`)
  if (body[options.start] !== objectStart) return undefined
  const isEmpty = body[spaceEnd(body, options.start + 1)] === objectEnd
  return inserted(body, options.start + 1, isEmpty ? usageMember : `${usageMember},`)
}

/** Empty for an object or array, and where there is nothing; texts are as they are written. */
function textAt(body: Buffer, place: Place | undefined): string {
  return place === undefined
    ? ''
    : body.toString('latin1', place.start, Math.min(place.end, place.start + 16))
}

function inserted(body: Buffer, at: number, text: string): readonly Buffer[] {
  return replaced(body, { start: at, end: at }, text)
}

function replaced(body: Buffer, { start, end }: Place, text: string): readonly Buffer[] {
  return [body.subarray(0, start), Buffer.from(text), body.subarray(end)]
}

import { startDeadline } from '#platform/deadline.ts'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'

/** The requests that one side may send to the other, by name: arguments and result, as plain JSON. */
type RequestTypes = Readonly<Record<string, { readonly given: unknown; readonly answer: unknown }>>

/** Handles the requests of the other side. */
export type RequestHandlers<Requests extends RequestTypes> = {
  readonly [Name in keyof Requests]: (
    given: Requests[Name]['given'],
  ) => Requests[Name]['answer'] | Promise<Requests[Name]['answer']>
}

/** Sends requests to another process. */
export interface Channel<Requests extends RequestTypes> {
  /** @throws what the other side threw; an Error if it exits, or does not respond in time */
  request<Name extends keyof Requests & string>(
    name: Name,
    given: Requests[Name]['given'],
    timeoutMs?: number,
  ): Promise<Requests[Name]['answer']>
  /** To be called when the other side has exited: pending requests are rejected. */
  close(): void
}

/** One end of the pipe between two processes. */
interface Pipe {
  send(message: object, done: (error: Error | null) => void): void
  onMessage(listener: (message: unknown) => void): void
}

type Message =
  | { readonly ask: string; readonly id: number; readonly given: unknown }
  | { readonly answerTo: number; readonly value: unknown }
  | { readonly answerTo: number; readonly fault: SerializedError }

interface SerializedError {
  readonly message: string
  readonly hint?: string | undefined
  /** The system's code for the cause, such as EADDRINUSE. */
  readonly causeCode?: string | undefined
  readonly isOperatorError: boolean
}

interface PendingRequest {
  resolve(value: unknown): void
  reject(error: Error): void
}

const closedMessage = 'the other process has exited'

/** Opens a channel in both directions. */
export function openChannel<Outgoing extends RequestTypes, Incoming extends RequestTypes>(
  pipe: Pipe,
  handlers: RequestHandlers<Incoming>,
): Channel<Outgoing> {
  const pending = new Map<number, PendingRequest>()
  let lastId = 0
  let isClosed = false

  function send(message: Message): void {
    if (isClosed) return
    pipe.send(message, (error) => {
      if (error && 'ask' in message) takePending(message.id)?.reject(error)
    })
  }

  function takePending(id: number): PendingRequest | undefined {
    const found = pending.get(id)
    pending.delete(id)
    return found
  }

  async function handle(name: string, id: number, given: unknown): Promise<void> {
    try {
      // The cast is sound: both ends have the same version, and send only the requests of this channel's types.
      const value = await handlers[name as keyof Incoming](given)
      send({ answerTo: id, value: value ?? null })
    } catch (error) {
      send({ answerTo: id, fault: serializeError(error) })
    }
  }

  pipe.onMessage((received) => {
    // The cast is sound for the same reason.
    const message = received as Message
    if ('ask' in message) void handle(message.ask, message.id, message.given)
    else if ('fault' in message) takePending(message.answerTo)?.reject(deserializeError(message.fault))
    else takePending(message.answerTo)?.resolve(message.value)
  })

  function request(name: string, given: unknown, timeoutMs?: number): Promise<unknown> {
    if (isClosed) return Promise.reject(new Error(closedMessage))
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    pending.set(id, { resolve, reject })
    send({ ask: name, id, given })
    if (timeoutMs === undefined) return promise
    const deadline = startDeadline(timeoutMs, () =>
      takePending(id)?.reject(new Error(`no response to ${name} within ${timeoutMs} ms`)),
    )
    return promise.finally(deadline.clear)
  }

  function close(): void {
    isClosed = true
    for (const id of [...pending.keys()]) takePending(id)?.reject(new Error(closedMessage))
  }

  // The cast is sound: a response has the type that belongs to its request.
  return { request: request as Channel<Outgoing>['request'], close }
}

function serializeError(error: unknown): SerializedError {
  if (!(error instanceof OperatorError)) return { message: errorMessage(error), isOperatorError: false }
  return { message: error.message, hint: error.hint, causeCode: codeOf(error.cause), isOperatorError: true }
}

function codeOf(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
}

function deserializeError({ message, hint, causeCode, isOperatorError }: SerializedError): Error {
  if (!isOperatorError) return new Error(message)
  const cause = causeCode !== undefined && Object.assign(new Error(causeCode), { code: causeCode })
  return new OperatorError(message, { ...(hint !== undefined && { hint }), ...(cause && { cause }) })
}

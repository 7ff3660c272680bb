import { OperatorError, reasonOf } from '../errors.ts'

/** The questions that one side may ask the other, by name: what is given and what is answered, as plain JSON. */
type Questions = Readonly<Record<string, { readonly given: unknown; readonly answer: unknown }>>

/** Answers the questions of the other side. */
export type Answerers<Asked extends Questions> = {
  readonly [Name in keyof Asked]: (
    given: Asked[Name]['given'],
  ) => Asked[Name]['answer'] | Promise<Asked[Name]['answer']>
}

/** Questions to another process. */
export interface Channel<Asked extends Questions> {
  /** @throws what the other side threw; an Error if it ends, or does not answer in time */
  ask<Name extends keyof Asked & string>(
    name: Name,
    given: Asked[Name]['given'],
    timeoutMs?: number,
  ): Promise<Asked[Name]['answer']>
  /** To be called when the other side has ended: open questions are rejected. */
  end(): void
}

/** One end of the pipe between two processes. */
export interface Pipe {
  send(message: object, done: (error: Error | null) => void): void
  onMessage(listener: (message: unknown) => void): void
}

type Message =
  | { readonly ask: string; readonly id: number; readonly given: unknown }
  | { readonly answerTo: number; readonly value: unknown }
  | { readonly answerTo: number; readonly fault: Fault }

interface Fault {
  readonly message: string
  readonly hint?: string | undefined
  /** The system's code for what caused it, such as EADDRINUSE. */
  readonly causeCode?: string | undefined
  readonly isOperators: boolean
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

const goneMessage = 'the other process has ended'

/** Opens a channel in both directions. */
export function openChannel<Asked extends Questions, Answered extends Questions>(
  pipe: Pipe,
  answerers: Answerers<Answered>,
): Channel<Asked> {
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let isOver = false

  function send(message: Message): void {
    if (isOver) return
    pipe.send(message, (error) => {
      if (error && 'ask' in message) settle(message.id)?.reject(error)
    })
  }

  function settle(id: number): Waiting | undefined {
    const found = waiting.get(id)
    waiting.delete(id)
    return found
  }

  async function answer(name: string, id: number, given: unknown): Promise<void> {
    try {
      // The cast is sound: both ends have the same version, and ask only by the types of this channel.
      const value = await answerers[name as keyof Answered](given)
      send({ answerTo: id, value: value ?? null })
    } catch (error) {
      send({ answerTo: id, fault: toFault(error) })
    }
  }

  pipe.onMessage((received) => {
    // The cast is sound for the same reason.
    const message = received as Message
    if ('ask' in message) void answer(message.ask, message.id, message.given)
    else if ('fault' in message) settle(message.answerTo)?.reject(toError(message.fault))
    else settle(message.answerTo)?.resolve(message.value)
  })

  function ask(name: string, given: unknown, timeoutMs?: number): Promise<unknown> {
    if (isOver) return Promise.reject(new Error(goneMessage))
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    waiting.set(id, { resolve, reject })
    send({ ask: name, id, given })
    if (timeoutMs === undefined) return promise
    const timer = setTimeout(
      () => settle(id)?.reject(new Error(`no answer to ${name} within ${timeoutMs} ms`)),
      timeoutMs,
    )
    return promise.finally(() => clearTimeout(timer))
  }

  function end(): void {
    isOver = true
    for (const id of [...waiting.keys()]) settle(id)?.reject(new Error(goneMessage))
  }

  // The cast is sound: an answer has the type that belongs to its question.
  return { ask: ask as Channel<Asked>['ask'], end }
}

function toFault(error: unknown): Fault {
  if (!(error instanceof OperatorError)) return { message: reasonOf(error), isOperators: false }
  return { message: error.message, hint: error.hint, causeCode: codeOf(error.cause), isOperators: true }
}

function codeOf(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
}

function toError({ message, hint, causeCode, isOperators }: Fault): Error {
  if (!isOperators) return new Error(message)
  const cause = causeCode !== undefined && Object.assign(new Error(causeCode), { code: causeCode })
  return new OperatorError(message, { ...(hint !== undefined && { hint }), ...(cause && { cause }) })
}

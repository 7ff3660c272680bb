import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import type { Test } from 'tap'
import { startServer } from './backend.ts'

/** A CloudEvent as a receiver reads it. */
export interface ReceivedEvent {
  readonly specversion: string
  readonly id: string
  readonly source: string
  readonly type: string
  readonly time: string
  readonly subject?: string
  readonly data: {
    readonly action: string
    readonly account: { readonly id: string; readonly email: string } | null
    readonly actor: Readonly<Record<string, unknown>>
    readonly details: Readonly<Record<string, unknown>>
  }
}

export interface EventReceiver {
  readonly url: string
  /** The part `secret` of its config. */
  readonly secret: { readonly file: string }
  /** Those that were accepted, in the order in which they came. */
  readonly accepted: readonly ReceivedEvent[]
  /** Those that were not. */
  readonly refused: readonly ReceivedEvent[]
  readonly bodies: readonly string[]
}

interface ReceiverOptions {
  /** Answers otherwise than with 204: returns true where it has. */
  readonly answer?: (event: ReceivedEvent, response: ServerResponse) => boolean
  /** The gateway's clock; default: the system's. */
  readonly clock?: () => number
}

/** A receiver of events that verifies each with the library of Standard Webhooks. */
export async function startEventReceiver(
  t: Test,
  { answer, clock }: ReceiverOptions = {},
): Promise<EventReceiver> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-events-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const file = join(folder, 'secret')
  writeFileSync(file, secret, { mode: 0o600 })
  const webhook = new Webhook(secret)
  const accepted: ReceivedEvent[] = []
  const refused: ReceivedEvent[] = []
  const bodies: string[] = []
  const url = await startServer(t, async (request, response) => {
    const body = await text(request)
    bodies.push(body)
    try {
      // The cast is sound: what differs makes the assertions of the tests fail.
      const headers = request.headers as Record<string, string>
      const event = (
        clock ? verifyAt(webhook, headers, body, clock()) : webhook.verify(body, headers)
      ) as ReceivedEvent
      if (request.headers['content-type'] !== 'application/cloudevents+json') throw new Error('no CloudEvent')
      if (request.headers['webhook-id'] !== event.id) throw new Error('another ID')
      if (answer?.(event, response)) {
        refused.push(event)
        return
      }
      accepted.push(event)
      response.writeHead(204).end()
    } catch (error) {
      response.writeHead(400).end(String(error))
    }
  })
  return { url, secret: { file }, accepted, refused, bodies }
}

/** As the library does, which knows only the clock of the system. */
function verifyAt(
  webhook: Webhook,
  headers: Readonly<Record<string, string>>,
  body: string,
  now: number,
): unknown {
  const sentAt = Number(headers['webhook-timestamp']) * 1_000
  // A test may have moved the clock meanwhile.
  if (sentAt > now) throw new Error(`sent at ${sentAt}, after ${now}`)
  const expected = webhook.sign(headers['webhook-id'] ?? '', new Date(sentAt), body)
  if (headers['webhook-signature'] !== expected) throw new Error('another signature')
  return JSON.parse(body)
}

import {
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  credentials,
  Metadata,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js'
import type { Test } from 'tap'
import { type Call, type CallEvent, type Caller, openCall } from './caller.ts'

const asIs = (bytes: Buffer): Buffer => bytes

/** The client in JavaScript, in this process, with a connection of its own. */
export function openJsCaller(t: Test, url: string): Caller {
  const options = { 'grpc.use_local_subchannel_pool': 1 }
  const client = new Client(new URL(url).host, credentials.createInsecure(), options)
  t.teardown(() => client.close())
  return {
    call: (asked) => {
      const { called, onEvent } = openCall()
      begin(client, asked, onEvent).on('status', ({ code, details, metadata }: StatusObject) => {
        const trailers = Object.entries(metadata.getMap()).map(([name, value]) => [name, String(value)])
        onEvent({ code, details, trailers: Object.fromEntries(trailers) })
      })
      return called
    },
  }
}

type Begun =
  | ClientUnaryCall
  | ClientWritableStream<Buffer>
  | ClientReadableStream<Buffer>
  | ClientDuplexStream<Buffer, Buffer>

function begin(client: Client, asked: Call, onEvent: (event: CallEvent) => void): Begun {
  const { path, kind, deadlineMs } = asked
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(asked.metadata ?? {})) metadata.set(name, value)
  const options = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs }
  const messages = asked.messages.map((message) => Buffer.from(message))
  const [first = Buffer.alloc(0)] = messages
  const onResponse = (_error: ServiceError | null, response: Buffer | undefined) => {
    if (response) onEvent({ message: String(response) })
  }
  switch (kind) {
    case 'unary':
      return client.makeUnaryRequest(path, asIs, asIs, first, metadata, options, onResponse)
    case 'upload': {
      const upload = client.makeClientStreamRequest(path, asIs, asIs, metadata, options, onResponse)
      for (const message of messages) upload.write(message)
      if (!asked.staysOpen) upload.end()
      return upload
    }
    case 'download': {
      const download = client.makeServerStreamRequest(path, asIs, asIs, first, metadata, options)
      follow(download, asked, onEvent)
      return download
    }
    case 'chat': {
      const chat = client.makeBidiStreamRequest(path, asIs, asIs, metadata, options)
      // One at a time, as a conversation goes.
      const sendNext = () => {
        const message = messages.shift()
        if (message) chat.write(message)
        else if (!asked.staysOpen) chat.end()
      }
      follow(chat, asked, onEvent)
      chat.on('data', sendNext)
      sendNext()
      return chat
    }
  }
}

function follow(
  stream: ClientReadableStream<Buffer> | ClientDuplexStream<Buffer, Buffer>,
  { cancelAfter }: Call,
  onEvent: (event: CallEvent) => void,
): void {
  let received = 0
  stream.on('error', () => {})
  stream.on('data', (message: Buffer) => {
    onEvent({ message: String(message) })
    if (++received === cancelAfter) stream.cancel()
  })
}

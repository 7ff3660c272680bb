import {
  Metadata,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import type { Test } from 'tap'

/** A call as the server got it. */
export interface ReceivedCall {
  readonly method: string
  readonly metadata: Metadata
  /** When it has to be answered, in ms since the epoch; Infinity = at any time. */
  readonly deadline: number
}

export interface GrpcBackend {
  readonly url: string
  readonly seen: ReceivedCall[]
  /** How many calls were cancelled. */
  readonly cancelled: () => number
}

const asIs = (bytes: Buffer): Buffer => bytes

function method(name: string, requestStream: boolean, responseStream: boolean) {
  const path = `/shop.Orders/${name}`
  return {
    ...{ path, requestStream, responseStream, requestSerialize: asIs, requestDeserialize: asIs },
    ...{ responseSerialize: asIs, responseDeserialize: asIs, originalName: name },
  } satisfies MethodDefinition<Buffer, Buffer> & { originalName: string }
}

const service = {
  unary: method('unary', false, false),
  silent: method('silent', false, false),
  failing: method('failing', false, false),
  upload: method('upload', true, false),
  download: method('download', false, true),
  chat: method('chat', true, true),
}

/** How many messages a download has. */
export const downloadedMessages = 100

/** What is asked of a call of any kind. */
type Handled = Pick<ServerUnaryCall<Buffer, Buffer>, 'getPath' | 'getDeadline' | 'metadata'> & {
  on(event: 'cancelled', listener: () => void): unknown
}

/** A real gRPC server, of the service `shop.Orders`. */
export async function startGrpcBackend(t: Test): Promise<GrpcBackend> {
  const seen: ReceivedCall[] = []
  let cancelled = 0
  const note = (call: Handled) => {
    seen.push({ method: call.getPath(), metadata: call.metadata, deadline: Number(call.getDeadline()) })
    call.on('cancelled', () => cancelled++)
  }
  const handlers: UntypedServiceImplementation = {
    unary: (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
      note(call)
      const trailer = new Metadata()
      trailer.set('x-cost', '3')
      done(null, Buffer.from(`got ${call.request}`), trailer)
    },
    silent: note,
    failing: (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
      note(call)
      done({ code: status.NOT_FOUND, details: 'no such order' })
    },
    upload: (call: ServerReadableStream<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
      note(call)
      let bytes = 0
      call.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      call.on('end', () => done(null, Buffer.from(String(bytes))))
    },
    download: (call: ServerWritableStream<Buffer, Buffer>) => {
      note(call)
      for (let index = 0; index < downloadedMessages; index++) call.write(Buffer.from(String(index)))
      call.end()
    },
    chat: (call: ServerDuplexStream<Buffer, Buffer>) => {
      note(call)
      call.on('data', (chunk: Buffer) => call.write(Buffer.from(`echo ${chunk}`)))
      call.on('end', () => call.end())
    },
  }
  const server = new Server()
  server.addService(service, handlers)
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  t.teardown(() => server.forceShutdown())
  return { url: `http://127.0.0.1:${port}`, seen, cancelled: () => cancelled }
}

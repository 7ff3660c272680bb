import { connect } from 'node:http2'

/** Makes one call with an empty message. @throws Error if it does not end with grpc-status 0: h2load does not look */
export async function assertCalls(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const { origin, pathname } = new URL(url)
  const session = connect(origin)
  try {
    const stream = session.request({ ':method': 'POST', ':path': pathname, ...headers })
    stream.end(Buffer.alloc(5)).resume()
    const status = new Promise((resolve) => {
      stream.on('trailers', (fields) => resolve(fields['grpc-status']))
      // Without trailers there is none, or it is in the head: then it is an error.
      stream.on('close', () => resolve(undefined)).on('error', () => {})
    })
    if ((await status) !== '0') throw new Error(`the call to ${url} failed: ${await status}`)
  } finally {
    session.destroy()
  }
}

import t from 'tap'
import { ParsedResponseHead } from '#http/outgoing/response-head.ts'
import { ParsedHead } from '#http/server/marked-head.ts'
import { startBackend } from '../../setup/backend.ts'
import { connectProxy, headOf } from '../forward/proxies.ts'

/** Counts how often a getter is read. */
function countReads<Owner extends object>(owner: Owner, name: keyof Owner & string): { count: number } {
  const original = Object.getOwnPropertyDescriptor(owner, name)
  const { get } = original ?? {}
  if (original === undefined || get === undefined) throw new Error(`${name} is no getter`)
  const reads = { count: 0 }
  Object.defineProperty(owner, name, {
    ...original,
    get() {
      reads.count++
      return get.call(this)
    },
  })
  t.teardown(() => Object.defineProperty(owner, name, original))
  return reads
}

// Slicing all fields from their heads takes more time than the decision about the request.
t.test('an ordinary request and its response pass without a list of their fields', async (t) => {
  const backend = await startBackend(t, ({ url }, response) => {
    if (url === '/fourth') response.writeHead(302, { Location: `${backend.url}/elsewhere` })
    response.end('ok')
  })
  const client = await connectProxy(t, backend.url)
  const ofRequests = countReads(ParsedHead.prototype, 'rawHeaders')
  const ofResponses = countReads(ParsedResponseHead.prototype, 'headers')
  client.send(headOf('GET /first HTTP/1.1', 'Accept: */*'))
  t.equal((await client.response()).body, 'ok')
  client.send(`${headOf('POST /second HTTP/1.1', 'Content-Length: 3')}abc`)
  t.equal((await client.response()).body, 'ok')
  t.strictSame([ofRequests.count, ofResponses.count], [0, 0])
  client.send(headOf('OPTIONS /third HTTP/1.1'))
  t.equal((await client.response()).body, 'ok')
  t.ok(ofRequests.count > 0, 'one that is not ordinary needs them')
  t.equal(ofResponses.count, 0)
  client.send(headOf('GET /fourth HTTP/1.1'))
  t.match((await client.response()).head, 'Location: http://gateway.example/elsewhere')
  t.ok(ofResponses.count > 0, 'as does a response whose Location is rewritten')
})

import t from 'tap'
import { headOf, startProxy } from '../gateway/forward/proxies.ts'
import { ask, connectHttp2 } from '../http/h2/ask.ts'
import { createRandom, type Random } from '../http/outgoing/random.ts'
import { connectRaw, type RawClient } from '../setup/raw-client.ts'
import { nobody, startNtlmBackend } from './support/ntlm-backend.ts'

/** A client connection, and as whom it may have signed in. */
interface Caller {
  readonly client: RawClient
  name: string | undefined
}

let names = 0

/** A name that nobody else signs in with: letters only. */
function newName(): string {
  return [...String(names++)].map((digit) => String.fromCharCode(0x61 + Number(digit))).join('')
}

const schemes = ['NTLM 3', 'ntlm 3', 'Negotiate', 'Basic eA==, NTLM 3', 'Basic eA==,negotiate']

/** One step of a caller. @returns whom the backend took it for */
async function step({ client, name }: Caller, signsIn: boolean, random: Random): Promise<string> {
  const lines = signsIn ? [`Authorization: ${random.pick(schemes)} ${name}`] : []
  const path = random.pick(['/who', '/private'])
  const body = random.pick(['', 'x'.repeat(random.below(3_000))])
  const method = body === '' ? 'GET' : random.pick(['POST', 'PUT', 'GET'])
  if (body !== '') lines.push(`Content-Length: ${body.length}`)
  client.send(headOf(`${method} ${path} HTTP/1.1`, ...lines) + body)
  return (await client.response()).body
}

for (const [protocol, connections] of [
  ['http1', 128],
  ['http1', 3],
  ['http2', 128],
] as const) {
  t.test(`no caller is ever taken for another, over ${connections} connections of ${protocol}`, async (t) => {
    const seed = 45 + connections
    const random = createRandom(seed)
    const backend = await startNtlmBackend(t, { isHttp2: protocol === 'http2' })
    const { url } = await startProxy(t, backend.url, { upstream: { protocol, connections } })
    const session = await connectHttp2(t, url)
    const connect = async (): Promise<Caller> => ({ client: await connectRaw(t, url), name: undefined })
    const callers = await Promise.all(Array.from({ length: 8 }, connect))
    let signedIn = 0
    for (let turn = 0; turn < 80; turn++) {
      const chosen = new Set(Array.from({ length: 1 + random.below(5) }, () => random.below(callers.length)))
      await Promise.all([
        ...[...chosen].map(async (index) => {
          const caller = callers[index]
          if (caller === undefined) return
          if (random.below(6) === 0) {
            caller.client.close()
            callers[index] = await connect()
            return
          }
          const signsIn = random.below(3) === 0
          if (signsIn) caller.name = newName()
          const user = await step(caller, signsIn, random)
          if (user === caller.name) signedIn++
          else if (user !== nobody) t.fail(`seed ${seed}, turn ${turn}: ${caller.name} was taken for ${user}`)
        }),
        ...Array.from({ length: random.below(4) }, async () => {
          const name = random.below(3) === 0 ? newName() : undefined
          const headers = name === undefined ? {} : { authorization: `${random.pick(schemes)} ${name}` }
          const { body } = await ask(session, random.pick(['/who', '/private']), { headers })
          if (body !== (name ?? nobody))
            t.fail(`seed ${seed}, turn ${turn}: a stream of ${name} was taken for ${body}`)
        }),
      ])
    }
    t.ok(signedIn > 20, `${signedIn} requests were signed in`)
  })
}

// uses: redis-server
import t, { type Test } from 'tap'
import { newIssuerKey, startIssuer } from '../identity/issuers/issuer-server.ts'
import { startBackend } from '../setup/backend.ts'
import { startGateway, type TestGatewayOptions } from '../setup/gateway.ts'
import { without } from '../setup/missing-program.ts'
import { startRedis } from '../setup/redis.ts'
import { ask } from './support/ask.ts'
import { newProofClient } from './support/proofs.ts'

/** Several gateways, and what they make of one proof that is sent to them so often at once. */
async function start(t: Test, count: number, options: TestGatewayOptions = {}) {
  const issuer = await startIssuer(t, [await newIssuerKey('one')])
  const backend = await startBackend(t)
  const config = {
    ...options.config,
    issuers: [{ name: 'corp', issuer: issuer.url, audience: 'orders', algorithms: ['ES256'] }],
    routes: [{ name: 'bound', path: '/bound', upstream: 'backend', auth: 'bearer', issuers: ['corp'] }],
  }
  const gateways = await Promise.all(
    Array.from({ length: count }, () => startGateway(t, { ...options, backend: backend.url, config })),
  )
  const client = await newProofClient()
  const token = await issuer.sign({ cnf: { jkt: client.jkt } })
  const sendTo = async (gateway: (typeof gateways)[number], proof: string) =>
    (await ask(t, gateway.url, 'GET /bound', [`Authorization: DPoP ${token}`, `DPoP: ${proof}`])).status
  const newProof = () => client.prove({ url: 'http://gateway.test/bound', token })
  return { gateways, backend, sendTo, newProof }
}

t.test('a proof counts once over all instances', { skip: without('redis-server') }, async (t) => {
  const redis = await startRedis(t)
  const { gateways, sendTo, newProof } = await start(t, 2, { driver: 'redis', redis })
  const [one, two] = gateways
  if (!one || !two) throw new Error('no gateways')
  const proof = await newProof()
  t.strictSame(
    [await sendTo(one, proof), await sendTo(two, proof), await sendTo(one, proof)],
    [200, 401, 401],
  )
  const another = await newProof()
  const statuses = await Promise.all([one, two, one, two].map((each) => sendTo(each, another)))
  t.strictSame(statuses.toSorted(), [200, 401, 401, 401], 'at once')
})

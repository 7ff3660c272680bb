import t from 'tap'
import { newProofClient } from '../../gateway/support/proofs.ts'
import { newIssuerKey, startIssuer } from '../../identity/issuers/issuer-server.ts'
import { startBackend } from '../../setup/backend.ts'
import { get, serveFleet, untilAllAnswer } from './fleet.ts'

// slow: starts a fleet

t.test('a proof counts once over all workers, and a nonce is good at each', async (t) => {
  const issuer = await startIssuer(t, [await newIssuerKey('one')])
  const backend = await startBackend(t)
  const route = { upstream: 'backend', issuers: ['corp'] }
  const fleet = await serveFleet(t, {
    backend: backend.url,
    workers: 3,
    config: {
      dpop: { nonce: true },
      issuers: [{ name: 'corp', issuer: issuer.url, audience: 'orders', algorithms: ['ES256'] }],
      routes: [
        { name: 'all', path: '/all', upstream: 'backend', auth: 'none' },
        { ...route, name: 'bound', path: '/bound', auth: 'bearer' },
      ],
      ops: { port: 0 },
    },
  })
  await untilAllAnswer(fleet, 3)
  const client = await newProofClient()
  const token = await issuer.sign({ cnf: { jkt: client.jkt } })
  const url = `${fleet.url}/bound`
  const headersOf = (proof: string) => ({ Authorization: `DPoP ${token}`, DPoP: proof })
  const asked = await fetch(url, { headers: headersOf(await client.prove({ url, token })) })
  const nonce = asked.headers.get('dpop-nonce')
  for (let round = 0; round < 5; round++) {
    const proof = await client.prove({ url, token }, { claims: { nonce } })
    const statuses = await Promise.all(Array.from({ length: 12 }, () => get(url, headersOf(proof))))
    t.strictSame(statuses.toSorted(), [200, ...Array<number>(11).fill(401)])
  }
})

import Fastify from 'fastify'
import { createVerifier, fastifyIdentity } from '@gatehouse-proxy/gateway/verify'

const [gateway, port] = process.argv.slice(2)
const app = Fastify()
const verifier = createVerifier({
  jwksUrl: `${gateway}/.well-known/jwks.json`,
  issuer: gateway,
  audience: 'orders',
})
app.addHook('onRequest', fastifyIdentity(verifier))
app.get('/orders', ({ identity }) => ({ id: identity.accountId, role: identity.role }))
await app.listen({ host: '127.0.0.1', port: Number(port) })
console.log('ready')

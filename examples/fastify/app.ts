import Fastify from 'fastify'
import gatehouse from '@gatehouse-proxy/gateway/fastify'

const app = Fastify()
await app.register(gatehouse, { config: 'gatehouse.yaml' })

// Any account, by secret key or access token.
app.get('/orders', { onRequest: app.gatehouse.require() }, (request) => ({
  ordersOf: request.principal?.accountId,
}))

// Admins only, with an access token, 60 times a minute.
const adminsOnly = app.gatehouse.require({
  auth: 'bearer',
  roles: ['Admin'],
  rateLimit: { limit: 60, per: '1m' },
})
app.delete('/orders/:id', { onRequest: adminsOnly }, (_request, reply) => reply.code(204).send())

// Open: no hook.
app.get('/health', () => ({ gatehouse: app.gatehouse.health() }))

const url = await app.listen({ port: Number(process.argv[2] ?? 3000) })
console.log(`listening on ${url}`)

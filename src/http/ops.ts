import Fastify, { type FastifyInstance } from 'fastify'
import type { Metrics } from '../metrics/metrics.ts'

/** What operators may know of the process. */
export interface Health {
  /** Whether requests are taken: not from the moment a shutdown starts. */
  isShuttingDown(): boolean
  /** Whether identity can be decided; `degraded` = from what is known alone. */
  identity(): 'ok' | 'degraded' | 'store-unavailable'
}

/** The ops scope, on a listener of its own: it is not for clients. */
export async function buildOps(metrics: Metrics, health: Health): Promise<FastifyInstance> {
  const app = Fastify({ return503OnClosing: false, forceCloseConnections: true })

  app.get('/livez', async () => ({ status: 'ok' }))

  app.get('/readyz', async (_request, reply) => {
    if (health.isShuttingDown()) return reply.code(503).send({ status: 'shutting-down' })
    const status = health.identity()
    return reply.code(status === 'store-unavailable' ? 503 : 200).send({ status })
  })

  app.get('/metrics', async (_request, reply) => {
    reply.type(metrics.contentType)
    return metrics.text()
  })

  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ status: 'not-found', paths: ['/livez', '/readyz', '/metrics'] }),
  )
  await app.ready()
  return app
}

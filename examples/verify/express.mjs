import express from 'express'
import { AssertionError, createVerifier, expressIdentity } from '@gatehouse-proxy/gateway/verify'

const [gateway, port] = process.argv.slice(2)
const app = express()
app.use(
  expressIdentity(
    createVerifier({
      jwksUrl: `${gateway}/.well-known/jwks.json`,
      issuer: gateway,
      audience: 'orders',
    }),
  ),
)
app.get('/orders', (request, response) => {
  response.json({ id: request.identity.accountId, role: request.identity.role })
})
app.use((error, _request, response, next) => {
  if (!(error instanceof AssertionError)) return next(error)
  response.status(error.statusCode).json({ code: error.code, detail: error.message })
})
app.listen(Number(port), '127.0.0.1', () => console.log('ready'))

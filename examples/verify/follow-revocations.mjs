import { createServer } from 'node:http'
import { createVerifier, verifyRequest } from '@gatehouse-proxy/gateway/verify'

const [gateway, port] = process.argv.slice(2)
const verifier = createVerifier({
  jwksUrl: `${gateway}/.well-known/jwks.json`,
  issuer: gateway,
  audience: 'orders',
  revocations: {
    url: `${gateway}/api/v1/revocations`,
    headers: { SecretKey: process.env.GATEWAY_KEY },
    onState: (state) => console.log(`revocations: ${state}`),
    onError: (error) => console.error(`revocations: ${error.message}`),
  },
})
const server = createServer(async (request, response) => {
  try {
    const { accountId, role } = await verifyRequest(verifier, request)
    response.end(JSON.stringify({ id: accountId, role }))
  } catch (error) {
    response.statusCode = error.statusCode ?? 500
    response.end(JSON.stringify({ code: error.code }))
  }
})
server.listen(Number(port), '127.0.0.1', () => console.log('ready'))

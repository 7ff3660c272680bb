import { createClient } from '@gatehouse-proxy/gateway/client'

const client = createClient({
  baseUrl: process.env.GATEWAY_URL,
  secretKey: process.env.GATEWAY_SECRET_KEY,
  apiKey: process.env.GATEWAY_API_KEY,
})

const response = await client.fetch('/orders')
console.log(response.status, await response.text())
await client.revoke()

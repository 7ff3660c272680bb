import { once } from 'node:events'
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { Server } from 'socket.io'
import { io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { startGateway } from '../../setup/gateway.ts'
import { portOf } from '../../setup/net.ts'

async function listen(t: Test, http: HttpServer): Promise<string> {
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.teardown(() => {
    http.close()
    http.closeAllConnections()
  })
  return `http://127.0.0.1:${portOf(http)}`
}

async function startSticky(t: Test, urls: readonly string[], path: string): Promise<string> {
  const gateway = await startGateway(t, {
    config: {
      upstreams: { backend: { targets: urls.map((url) => ({ url })), balancing: 'sticky' } },
      routes: [{ name: 'all', path, upstream: 'backend', auth: 'none', websocket: true }],
    },
  })
  return gateway.url
}

for (const transports of [['polling'], ['polling', 'websocket']]) {
  t.test(`socket.io on three servers over ${transports.join(', then ')}`, async (t) => {
    const urls = await Promise.all(
      ['A', 'B', 'C'].map(async (name) => {
        const http = createServer()
        const server = new Server(http)
        t.teardown(() => server.close())
        server.on('connection', (socket) => {
          socket.on('whoareyou', (answer: (name: string) => void) => answer(name))
        })
        return listen(t, http)
      }),
    )
    const url = await startSticky(t, urls, '/socket.io')
    const names = new Set<string>()
    for (let client = 0; client < 3; client++) {
      const socket = io(url, { transports, withCredentials: true, forceNew: true, reconnection: false })
      t.teardown(() => socket.disconnect())
      await new Promise<void>((resolve, reject) => {
        socket.on('connect', resolve).on('connect_error', reject)
      })
      const answers = new Set<string>()
      for (let count = 0; count < 5; count++) answers.add((await socket.emitWithAck('whoareyou')) as string)
      t.equal(answers.size, 1)
      for (const name of answers) names.add(name)
    }
    t.equal(names.size, 3, 'the clients are spread')
  })
}

/** A server of MCP that keeps its sessions in memory, as the SDK's examples do. */
function startMcp(t: Test, name: string): Promise<string> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id']?.toString()
    const found = id === undefined ? undefined : sessions.get(id)
    if (id !== undefined && !found) return void response.writeHead(404).end()
    const transport =
      found ??
      new StreamableHTTPServerTransport({
        sessionIdGenerator: () => `${name}-${Math.random()}`,
        onsessioninitialized: (session) => void sessions.set(session, transport),
      })
    if (!found) {
      const server = new McpServer({ name, version: '1.0.0' })
      server.registerTool('name', {}, () => ({ content: [{ type: 'text', text: name }] }))
      // The cast is sound: its members may be undefined, which is all that differs.
      await server.connect(transport as Parameters<typeof server.connect>[0])
    }
    await transport.handleRequest(request, response)
  }
  return listen(
    t,
    createServer((request, response) => void answer(request, response)),
  )
}

/** A fetch with a cookie store, as browsers have. */
function createFetch(): typeof fetch {
  const cookies = new Map<string, string>()
  return async (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('Cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    const response = await fetch(input, { ...init, headers })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.set(name, value)
    }
    return response
  }
}

t.test('sessions of MCP on three servers over streamable HTTP', async (t) => {
  const url = await startSticky(
    t,
    await Promise.all(['A', 'B', 'C'].map((name) => startMcp(t, name))),
    '/mcp',
  )
  const names = new Set<string>()
  for (let count = 0; count < 3; count++) {
    const client = new Client({ name: 'test', version: '1.0.0' })
    t.teardown(() => client.close())
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { fetch: createFetch() })
    // The cast is sound: its members may be undefined, which is all that differs.
    await client.connect(transport as Parameters<typeof client.connect>[0])
    const answers = new Set<string>()
    for (let call = 0; call < 5; call++)
      answers.add(JSON.stringify((await client.callTool({ name: 'name' })).content))
    t.equal(answers.size, 1)
    for (const name of answers) names.add(name)
  }
  t.equal(names.size, 3, 'the clients are spread')

  const without = new Client({ name: 'test', version: '1.0.0' })
  t.teardown(() => without.close())
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`))
  await t.rejects(async () => {
    await without.connect(transport as Parameters<typeof without.connect>[0])
    for (let call = 0; call < 5; call++) await without.callTool({ name: 'name' })
  }, 'a client that keeps no cookies loses its session')
})

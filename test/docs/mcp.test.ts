import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import t from 'tap'
import { parse } from 'yaml'
import { startGateway } from '../setup/gateway.ts'
import { freePort, until } from '../setup/net.ts'
import { codeOf, newClient, startProvider, startTools } from './mcp-parts.ts'
import { snippetsOf } from './snippets.ts'

t.test(
  'a client of MCP finds its way from a 401 to a token to a call, with the config of the page',
  async (t) => {
    const port = await freePort()
    const origin = `http://127.0.0.1:${port}`
    const resource = `${origin}/mcp`
    const [issuer, tools] = await Promise.all([startProvider(t, resource), startTools(t)])
    const [snippet] = snippetsOf('docs/mcp.md').filter(({ language }) => language === 'yaml')
    const text = (snippet?.text ?? '')
      .replaceAll('https://api.example.com', origin)
      .replaceAll('https://id.example.com', issuer)
      .replaceAll('http://127.0.0.1:3000', tools)
    const gateway = await startGateway(t, { config: { ...(parse(text) as object), listen: { port } } })

    // One of several servers below the resource.
    const serverUrl = `${resource}/tools`
    const { kept, provider } = newClient()
    const newTransport = () =>
      new StreamableHTTPClientTransport(new URL(serverUrl), { authProvider: provider })
    const connect = async (transport: StreamableHTTPClientTransport) => {
      const client = new Client({ name: 'example', version: '1.0.0' })
      await client.connect(transport as Parameters<typeof client.connect>[0])
      return client
    }
    const first = newTransport()
    await t.rejects(connect(first), { name: /Unauthorized|Error/ }, 'it has to sign in first')
    t.ok(kept.information, 'it has registered itself')
    t.match(Object.fromEntries(kept.authorizationUrl?.searchParams ?? []), {
      resource,
      scope: /tools:use/,
      code_challenge_method: 'S256',
    })
    const code = await codeOf(kept.authorizationUrl)
    await first.finishAuth(code)

    const client = await connect(newTransport())
    const { content } = (await client.callTool({ name: 'whoami' })) as { readonly content: unknown }
    t.strictSame(content, [{ type: 'text', text: 'corp:ada undefined' }])
    await gateway.operate(({ subjects }) => subjects.block({ issuer: 'corp', subject: 'ada' }))
    const isRefused = () =>
      client.callTool({ name: 'whoami' }).then(
        () => false,
        (error) => /subject-blocked/.test(String(error)),
      )
    await until('the gateway has read of it', isRefused)
    await client.close()
  },
)

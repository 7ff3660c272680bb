import { once } from 'node:events'
import { createServer } from 'node:http'
import { readAssets } from '#portal/read-assets.ts'
import { translationOf } from '#portal/texts/texts.ts'
import { portOf } from '../setup/net.ts'
import { states } from './page-states.ts'

/** Shows every state at `/portal/states/<name>`, in German at `/portal/states/de/<name>`, with the assets of the portal. */
export async function showStates(): Promise<{ readonly url: string; close(): void }> {
  const assets = readAssets('/portal', { logo: undefined, color: undefined, darkColor: undefined })
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const asset = assets.find(path)
    const [, language, name = ''] = /^\/portal\/states\/(?:(de)\/)?(.*)$/.exec(path) ?? []
    const state = states[name]
    if (asset) {
      response.writeHead(200, { 'Content-Type': asset.type }).end(asset.encode('').bytes)
    } else if (state) {
      const page = state({ assets, ...translationOf(language === 'de' ? 'de' : 'en') })
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(String(page))
    } else response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server)}/portal/states`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

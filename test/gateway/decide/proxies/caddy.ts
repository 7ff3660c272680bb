import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProxyKind } from './run-proxy.ts'

// needs: caddy

export const caddy: ProxyKind = {
  name: 'Caddy',
  file: 'Caddyfile',
  command: (config, folder) => {
    const file = join(folder, 'Caddyfile')
    // Several may run at once, and each would have the same address for its admin API.
    writeFileSync(file, `{\n\tadmin off\n}\n${config}`)
    const env = { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
    return { program: 'caddy', args: ['run', '--adapter', 'caddyfile', '--config', file], env }
  },
}

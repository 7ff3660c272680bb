import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProxyKind, withAddresses } from './run-proxy.ts'

// needs: haproxy

export const haproxy: ProxyKind = {
  name: 'HAProxy',
  file: 'haproxy.cfg',
  command: (config, folder, neighbours) => {
    writeFileSync(join(folder, 'gatehouse.lua'), withAddresses('gatehouse.lua', neighbours))
    writeFileSync(join(folder, 'haproxy.cfg'), config)
    // Beside the config, as in a service.
    return { program: 'haproxy', args: ['-db', '-C', folder, '-f', 'haproxy.cfg'] }
  },
}

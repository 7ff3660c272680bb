import { writeNginxConfig } from '../../../setup/nginx.ts'
import type { ProxyKind } from './run-proxy.ts'

// needs: nginx

export const nginx: ProxyKind = {
  name: 'nginx',
  file: 'nginx-auth-request.conf',
  command: (config, folder) => ({ program: 'nginx', args: writeNginxConfig(folder, config) }),
}

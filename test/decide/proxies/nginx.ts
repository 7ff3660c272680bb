import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProxyKind } from './run-proxy.ts'

const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/** nginx, with what a distribution has around an included file. */
export const nginx: ProxyKind = {
  name: 'nginx',
  file: 'nginx-auth-request.conf',
  command: (config, folder) => {
    for (const name of folders) mkdirSync(join(folder, name))
    const paths = folders.map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n')
    writeFileSync(join(folder, 'gatehouse.conf'), config)
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid ${join(folder, 'nginx.pid')};
error_log stderr warn;
events { worker_connections 1024; }
http {
access_log off;
${paths}
include ${join(folder, 'gatehouse.conf')};
}
`,
    )
    return { program: 'nginx', args: ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')] }
  },
}

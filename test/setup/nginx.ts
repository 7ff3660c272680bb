import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const tempFolders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/** Writes a config of nginx with what a distribution has around an included file. @returns the arguments of nginx */
export function writeNginxConfig(folder: string, included: string): readonly string[] {
  for (const name of tempFolders) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'gatehouse.conf'), included)
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
${tempFolders.map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n')}
include ${join(folder, 'gatehouse.conf')};
}
`,
  )
  return nginxArgs(folder)
}

/** The arguments by which nginx finds the config in a folder. */
export function nginxArgs(folder: string): readonly string[] {
  return ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')]
}

import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProxyKind, withAddresses } from './run-proxy.ts'

// needs: apache2, lua-socket

const modules = ['mpm_event', 'authz_core', 'headers', 'lua', 'proxy', 'proxy_http']
const script = 'gatehouse-apache.lua'

/** Apache, with what a distribution has around an included file. */
export const apache: ProxyKind = {
  name: 'Apache',
  file: 'apache.conf',
  command: (config, folder, neighbours) => {
    // Its workers are another user.
    chmodSync(folder, 0o755)
    const load = modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`)
    writeFileSync(join(folder, script), withAddresses(script, neighbours))
    writeFileSync(
      join(folder, 'apache2.conf'),
      `ServerRoot ${folder}
ServerName localhost
PidFile ${join(folder, 'apache2.pid')}
DefaultRuntimeDir ${folder}
ErrorLog ${join(folder, 'error.log')}
${process.getuid?.() === 0 ? 'User www-data\nGroup www-data' : ''}
${load.join('\n')}
${config.replace('/etc/apache2/', `${folder}/`)}`,
    )
    return { program: 'apache2', args: ['-DFOREGROUND', '-f', join(folder, 'apache2.conf')] }
  },
}

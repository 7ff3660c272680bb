import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort, until } from '../../setup/net.ts'

// needs: apache2

export interface DavBackend {
  readonly url: string
  /** Where its files are. */
  readonly files: string
  /** Method, path, status, Destination and caller of each request, in order. */
  log(): readonly string[]
}

const modules = '/usr/lib/apache2/modules'

/** Apache with mod_dav on an empty folder. @param path where it serves that folder: `/`, or `/dav` */
export async function startDavBackend(t: Test, path: '/' | '/dav' = '/'): Promise<DavBackend> {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-dav-'))
  const served = path === '/' ? join(root, 'files') : join(root, 'files', path)
  mkdirSync(served, { recursive: true })
  // Started by root it serves as another user.
  for (const folder of [root, join(root, 'files'), served]) chmodSync(folder, 0o777)
  const port = await freePort()
  writeFileSync(join(root, 'apache.conf'), configOf(root, port))
  const server = spawn('apache2', ['-f', join(root, 'apache.conf'), '-DFOREGROUND'], { stdio: 'ignore' })
  t.teardown(async () => {
    server.kill('SIGTERM')
    await until('Apache has stopped', () => server.exitCode !== null || server.signalCode !== null)
    rmSync(root, { recursive: true, force: true })
  })
  const url = `http://127.0.0.1:${port}`
  await until('Apache answers', () =>
    fetch(url, { method: 'OPTIONS' }).then(
      ({ ok }) => ok || undefined,
      () => undefined,
    ),
  )
  return {
    url,
    files: served,
    log: () => readFileSync(join(root, 'access.log'), 'utf8').trim().split('\n'),
  }
}

function configOf(root: string, port: number): string {
  return `
ServerRoot ${root}
PidFile ${root}/apache.pid
Mutex pthread
Listen 127.0.0.1:${port}
ServerName localhost
LoadModule mpm_event_module ${modules}/mod_mpm_event.so
LoadModule authz_core_module ${modules}/mod_authz_core.so
LoadModule dir_module ${modules}/mod_dir.so
LoadModule dav_module ${modules}/mod_dav.so
LoadModule dav_fs_module ${modules}/mod_dav_fs.so
${process.getuid?.() === 0 ? 'User www-data\nGroup www-data' : ''}
DocumentRoot ${root}/files
ErrorLog ${root}/error.log
LogFormat "%m %U %>s %{Destination}i %{X-User-Id}i" dav
CustomLog ${root}/access.log dav
DavLockDB ${root}/locks
<Directory ${root}/files>
  Dav On
  Require all granted
</Directory>
`
}

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort, until } from '../../setup/net.ts'
import { writeNginxConfig } from '../../setup/nginx.ts'

// needs: nginx, radicale

interface SmallDavBackend {
  readonly url: string
  /** Where its files are. */
  readonly files: string
}

/** nginx with its module for PUT, DELETE, MKCOL, COPY and MOVE, on an empty folder. */
export function startNginxDav(t: Test): Promise<SmallDavBackend> {
  return start(t, (root, port) => {
    const files = `root ${join(root, 'files')}; dav_methods PUT DELETE MKCOL COPY MOVE;`
    const folder = join(root, 'nginx')
    mkdirSync(folder)
    return [
      'nginx',
      ...writeNginxConfig(folder, `server { listen 127.0.0.1:${port}; location / { ${files} } }`),
    ]
  })
}

/** Radicale without accounts of its own. */
export function startRadicale(t: Test): Promise<SmallDavBackend> {
  return start(t, (root, port) => [
    'radicale',
    ...[
      '--config',
      '',
      '--hosts',
      `127.0.0.1:${port}`,
      '--auth-type',
      'none',
      '--rights-type',
      'authenticated',
    ],
    ...['--storage-filesystem-folder', join(root, 'files')],
  ])
}

async function start(
  t: Test,
  command: (root: string, port: number) => readonly string[],
): Promise<SmallDavBackend> {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-dav-'))
  mkdirSync(join(root, 'files'))
  const port = await freePort()
  const [program = '', ...args] = command(root, port)
  const server = spawn(program, args, { stdio: 'ignore' })
  t.teardown(async () => {
    server.kill('SIGTERM')
    await until(`${program} has stopped`, () => server.exitCode !== null || server.signalCode !== null)
    rmSync(root, { recursive: true, force: true })
  })
  const url = `http://127.0.0.1:${port}`
  await until(`${program} answers`, () =>
    fetch(url, { redirect: 'manual' }).then(
      () => true,
      () => undefined,
    ),
  )
  return { url, files: join(root, 'files') }
}

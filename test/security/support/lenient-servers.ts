import { execFileSync, spawn } from 'node:child_process'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort, until } from '../../setup/net.ts'

// needs: python3-cheroot, python3-gevent, python3-waitress

/** A real server whose application names each request it runs. */
export interface LenientServer {
  readonly url: string
  /** Method and path of all requests that have run, in order. */
  ran(): readonly string[]
}

/** How a server is found, and started on a port. */
export interface ServerKind {
  readonly name: string
  readonly debianPackage: string
  /** Succeeds where it is installed. */
  readonly probe: readonly [program: string, ...args: string[]]
  command(port: number): readonly [program: string, ...args: string[]]
}

const folder = import.meta.dirname
const python = '/usr/bin/python3'

function ofPython(name: string): ServerKind {
  return {
    name,
    debianPackage: `python3-${name}`,
    probe: [python, '-c', `import ${name}`],
    command: (port) => [python, join(folder, 'lenient.py'), name, String(port)],
  }
}

/** `npm run test:all` installs these. */
export const requiredServers: readonly ServerKind[] = ['cheroot', 'gevent', 'waitress'].map(ofPython)

/** Tried where they are installed. */
export const furtherServers: readonly ServerKind[] = [
  ...['tornado', 'twisted'].map(ofPython),
  {
    name: 'puma',
    debianPackage: 'puma',
    probe: ['puma', '--version'],
    command: (port) => [
      'puma',
      ...['--quiet', '--environment', 'production', '--bind', `tcp://127.0.0.1:${port}`],
      join(folder, 'lenient.ru'),
    ],
  },
  {
    name: 'starman',
    debianPackage: 'starman',
    probe: ['starman', '--version'],
    command: (port) => [
      'starman',
      ...['--workers', '2', '--listen', `127.0.0.1:${port}`],
      join(folder, 'lenient.psgi'),
    ],
  },
]

export function isInstalled({ probe: [program, ...args] }: ServerKind): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Starts a server on a free port; it ends with the test. */
export async function startLenientServer(t: Test, kind: ServerKind): Promise<LenientServer> {
  const port = await freePort()
  const [program, ...args] = kind.command(port)
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let errors = ''
  child.stdout.on('data', (data) => {
    output += data
  })
  child.stderr.on('data', (data) => {
    errors += data
  })
  t.teardown(() => child.kill('SIGTERM'))
  await until(`${kind.name} listens`, () => {
    if (child.exitCode !== null) throw new Error(`${kind.name} did not start: ${errors}`)
    return isOpen(port)
  })
  return {
    url: `http://127.0.0.1:${port}`,
    ran: () => [...output.matchAll(/^ran (.*)$/gm)].map(([, line = '']) => line),
  }
}

function isOpen(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(undefined))
  })
}

import { execFileSync, spawnSync } from 'node:child_process'
import { requiredServers } from '../security/support/lenient-servers.ts'
import { chromiumNames } from './chromium.ts'
import { deploymentPrograms, type Program } from './deployment-programs.ts'

/** Runs before the tests: they bring up real Redis servers, a real browser and real backends, and none is skipped. */

const programs: readonly Program[] = [
  ...deploymentPrograms,
  { names: ['redis-server'], debianPackage: 'redis-server', otherWay: 'brew install redis' },
  {
    names: chromiumNames,
    debianPackage: 'chromium-headless-shell',
    otherWay: 'chromium, or brew install --cask chromium',
  },
  { names: ['bash'], debianPackage: 'bash', otherWay: 'brew install bash' },
  { names: ['zsh'], debianPackage: 'zsh', otherWay: 'brew install zsh' },
  { names: ['fish'], debianPackage: 'fish', otherWay: 'brew install fish' },
  { names: ['script'], debianPackage: 'bsdutils', otherWay: 'the script of util-linux' },
  // The proxies that ask for decisions.
  { names: ['nginx'], probe: ['-v'], debianPackage: 'nginx-light', otherWay: 'brew install nginx' },
  { names: ['caddy'], probe: ['version'], debianPackage: 'caddy', otherWay: 'brew install caddy' },
  { names: ['haproxy'], probe: ['-v'], debianPackage: 'haproxy', otherWay: 'brew install haproxy' },
  { names: ['apache2'], probe: ['-v'], debianPackage: 'apache2', otherWay: 'a build of Apache with mod_lua' },
  {
    names: ['dpkg'],
    probe: ['-s', 'lua-socket'],
    debianPackage: 'lua-socket',
    otherWay: 'luarocks install luasocket',
  },
  // Backends that verify assertions.
  { names: ['go'], probe: ['version'], debianPackage: 'golang-go', otherWay: 'brew install go' },
  {
    names: ['/usr/bin/python3'],
    probe: ['-c', 'import fastapi'],
    debianPackage: 'python3-fastapi',
    otherWay: 'pip install fastapi',
  },
  {
    names: ['/usr/bin/python3'],
    probe: ['-c', 'import jwt, cryptography'],
    debianPackage: 'python3-jwt',
    otherWay: 'pip install pyjwt[crypto]',
  },
  {
    names: ['/usr/bin/python3'],
    probe: ['-c', 'import uvicorn'],
    debianPackage: 'python3-uvicorn',
    otherWay: 'pip install uvicorn',
  },
  // Clients of gRPC.
  {
    names: ['/usr/bin/python3'],
    probe: ['-c', 'import grpc'],
    debianPackage: 'python3-grpcio',
    otherWay: 'pip install grpcio',
  },
  {
    names: ['test'],
    probe: ['-d', '/usr/share/gocode/src/google.golang.org/grpc'],
    debianPackage: 'golang-google-grpc-dev',
    otherWay: 'the sources of google.golang.org/grpc in /usr/share/gocode/src',
  },
  // The client of the proxies that terminate TLS.
  { names: ['curl'], debianPackage: 'curl', otherWay: 'brew install curl' },
  // Signs in to registries as docker does, without a daemon.
  { names: ['skopeo'], debianPackage: 'skopeo', otherWay: 'brew install skopeo' },
  // For backups of databases.
  { names: ['sqlite3'], debianPackage: 'sqlite3', otherWay: 'brew install sqlite' },
  // A client of WebDAV; its server is Apache.
  { names: ['rclone'], debianPackage: 'rclone', otherWay: 'brew install rclone' },
  // A server of calendars behind a stripped prefix.
  { names: ['radicale'], debianPackage: 'radicale', otherWay: 'pip install radicale' },
  // A container registry, and a client of it.
  { names: ['docker-registry'], debianPackage: 'docker-registry', otherWay: 'a build of distribution' },
  { names: ['skopeo'], debianPackage: 'skopeo', otherWay: 'brew install skopeo' },
  ...requiredServers.map(({ name, probe: [program, ...probe], debianPackage }) => ({
    names: [program],
    probe,
    debianPackage,
    otherWay: `${program} -m pip install ${name}`,
  })),
]

function isThere({ names, probe = ['--version'] }: Program): boolean {
  return names.some((name) => {
    try {
      execFileSync(name, probe, { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })
}

function installFromDebian(missing: readonly Program[]): void {
  const packages = [...new Set(missing.map(({ debianPackage }) => debianPackage))]
  console.error(
    `The tests need ${packages.join(' and ')}: installing the Debian packages now. \`npm run test:unit\` needs none of them.`,
  )
  runAptGet('update', '-q')
  if (runAptGet(...installation, ...packages)) return
  // One that conflicts with what is there, or that this release does not have, must not keep out the others.
  for (const name of packages) runAptGet(...installation, name)
}

const installation = ['install', '-q', '-y', '--no-install-recommends']

/** @returns whether it succeeded; what it says is shown */
function runAptGet(...args: readonly string[]): boolean {
  // Only the programs: no service is to be started beside the servers of the tests.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const { status, error } = spawnSync('apt-get', args, { stdio: 'inherit', env })
  if (error) console.error(String(error))
  return status === 0
}

const missing = programs.filter((program) => !isThere(program))
if (missing.length > 0 && process.getuid?.() === 0) installFromDebian(missing)
for (const { debianPackage, otherWay } of missing.filter((program) => !isThere(program))) {
  console.error(
    `The tests need ${debianPackage}, and it is not there. Install it and make it findable: apt-get install ${debianPackage}, or ${otherWay}.`,
  )
  process.exitCode = 1
}

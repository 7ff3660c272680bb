import { spawnSync } from 'node:child_process'

/**
 * What the browser may be called; the first that is found is taken. First the one without a user interface of its own:
 * the tests of the portal need a third less CPU with it.
 */
export const chromiumNames: readonly string[] = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'Chromium',
]

/** A program that is not npm's, and that tests name in a line of comment (`test/runner/declarations.ts`). */
export interface Program {
  /** What shows that it is there: any one of these commands succeeds. */
  readonly probes: readonly (readonly [program: string, ...args: string[]])[]
  /** Where Debian calls it something else. */
  readonly debianPackage?: string
  readonly otherWay: string
  /** Whether `npm test` uses it where it is there. */
  readonly inQuickTests?: true
}

function called(name: string, otherWay: string, more: Partial<Program> = {}): Program {
  return { probes: [[name, '--version']], otherWay, ...more }
}

function pythonModules(names: string, otherWay: string): Program {
  return { probes: [['/usr/bin/python3', '-c', `import ${names}`]], otherWay }
}

function goLibrary(path: string): Program {
  const folder = `/usr/share/gocode/src/${path}`
  return { probes: [['test', '-d', folder]], otherWay: `the sources of ${path} in ${folder}` }
}

export const programs: Readonly<Record<string, Program>> = {
  'redis-server': called('redis-server', 'brew install redis', { inQuickTests: true }),
  git: called('git', 'brew install git', { inQuickTests: true }),
  chromium: {
    probes: chromiumNames.map((name) => [name, '--version'] as const),
    debianPackage: 'chromium-headless-shell',
    otherWay: 'chromium, or brew install --cask chromium',
  },
  bash: called('bash', 'brew install bash'),
  zsh: called('zsh', 'brew install zsh'),
  fish: called('fish', 'brew install fish'),
  groff: called('groff', 'brew install groff'),
  script: called('script', 'the script of util-linux', { debianPackage: 'bsdutils' }),
  curl: called('curl', 'brew install curl'),
  // The proxies that ask for decisions, or terminate TLS.
  nginx: called('nginx', 'brew install nginx', { probes: [['nginx', '-v']], debianPackage: 'nginx-light' }),
  caddy: called('caddy', 'brew install caddy', { probes: [['caddy', 'version']] }),
  haproxy: called('haproxy', 'brew install haproxy', { probes: [['haproxy', '-v']] }),
  apache2: called('apache2', 'a build of Apache with mod_lua', { probes: [['apache2', '-v']] }),
  'lua-socket': { probes: [['dpkg', '-s', 'lua-socket']], otherWay: 'luarocks install luasocket' },
  // Backends that verify assertions, and clients of gRPC.
  go: called('go', 'brew install go', { probes: [['go', 'version']], debianPackage: 'golang-go' }),
  'golang-google-grpc-dev': goLibrary('google.golang.org/grpc'),
  'python3-fastapi': pythonModules('fastapi', 'pip install fastapi'),
  'python3-jwt': pythonModules('jwt, cryptography', 'pip install pyjwt[crypto]'),
  'python3-uvicorn': pythonModules('uvicorn', 'pip install uvicorn'),
  'python3-grpcio': pythonModules('grpc', 'pip install grpcio'),
  // Clients of what stands behind a gateway.
  python3: called('python3', 'brew install python'),
  skopeo: called('skopeo', 'brew install skopeo'),
  sqlite3: called('sqlite3', 'brew install sqlite'),
  rclone: called('rclone', 'brew install rclone', { probes: [['rclone', 'version']] }),
  radicale: called('radicale', 'pip install radicale'),
  'docker-registry': called('docker-registry', 'a build of distribution'),
  // What reads, validates and runs the files of deploy/.
  'docker-compose': called('docker-compose', 'pipx install docker-compose', {
    probes: [['docker-compose', 'version']],
  }),
  promtool: called('promtool', 'brew install prometheus', { debianPackage: 'prometheus' }),
  'systemd-analyze': called('systemd-analyze', 'a Linux that has it', { debianPackage: 'systemd' }),
  kubectl: called('kubectl', 'brew install kubernetes-cli', {
    probes: [['kubectl', 'version', '--client']],
    debianPackage: 'kubernetes-client',
  }),
  // The functions of templates of Helm, which Debian does not have.
  'golang-github-masterminds-sprig-dev': goLibrary('github.com/Masterminds/sprig'),
  'golang-gopkg-yaml.v3-dev': goLibrary('gopkg.in/yaml.v3'),
  iproute2: called('ip', 'a Linux that has it', { probes: [['ip', '-V']] }),
  // Servers that read HTTP/1.1 in other ways than ours (`test/security/support/lenient-servers.ts`).
  'python3-cheroot': pythonModules('cheroot', 'pip install cheroot'),
  'python3-gevent': pythonModules('gevent', 'pip install gevent'),
  'python3-waitress': pythonModules('waitress', 'pip install waitress'),
}

/** @throws Error for a name that is not in the table */
export function programNamed(name: string): Program {
  const program = programs[name]
  if (!program) throw new Error(`no program of test/setup/programs.ts is called ${name}`)
  return program
}

const found = new Map<string, boolean>()

/** Looks for it once. */
export function isThere(name: string): boolean {
  const known = found.get(name)
  if (known !== undefined) return known
  const there = programNamed(name).probes.some(
    ([program, ...args]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0,
  )
  found.set(name, there)
  return there
}

/** Whether tests that use it are quick ones for all that. */
export function isWithQuickTests(name: string): boolean {
  return programNamed(name).inQuickTests === true
}

/** After something was installed. */
export function lookAgain(): void {
  found.clear()
}

export function packageOf(name: string): string {
  return programNamed(name).debianPackage ?? name
}

export function howToGet(name: string): string {
  return `apt-get install ${packageOf(name)}, or ${programNamed(name).otherWay}`
}

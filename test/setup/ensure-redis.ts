import { execFileSync } from 'node:child_process'

/** Runs before the tests: they bring up real Redis servers, and none of them is ever skipped. */

const way = 'Install it and make redis-server findable: apt-get install redis-server, or brew install redis.'

function hasRedis(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function installFromDebian(): void {
  console.error('The tests need redis-server: installing the Debian package.')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  execFileSync('apt-get', ['update', '-q'], { stdio: 'inherit', env })
  // Only the program: no service is to be started beside the servers of the tests.
  execFileSync('apt-get', ['install', '-q', '-y', '--no-install-recommends', 'redis-server'], {
    stdio: 'inherit',
    env: { ...env, RUNLEVEL: '1' },
  })
}

if (!hasRedis() && process.getuid?.() === 0) {
  try {
    installFromDebian()
  } catch (error) {
    console.error(String(error))
  }
}
if (!hasRedis()) {
  console.error(`The tests need redis-server 7 or newer, and there is none. ${way}`)
  process.exit(1)
}

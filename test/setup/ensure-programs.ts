import { execFileSync } from 'node:child_process'
import { chromiumNames } from './chromium.ts'

/** Runs before the tests: they bring up real Redis servers and a real browser, and none is ever skipped. */

interface Program {
  /** What it is called; any of them will do. */
  readonly names: readonly string[]
  readonly debianPackage: string
  readonly otherWay: string
}

const programs: readonly Program[] = [
  { names: ['redis-server'], debianPackage: 'redis-server', otherWay: 'brew install redis' },
  { names: chromiumNames, debianPackage: 'chromium', otherWay: 'brew install --cask chromium' },
]

function isThere({ names }: Program): boolean {
  return names.some((name) => {
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })
}

function installFromDebian(missing: readonly Program[]): void {
  const packages = missing.map(({ debianPackage }) => debianPackage)
  console.error(`The tests need ${packages.join(' and ')}: installing the Debian packages.`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  execFileSync('apt-get', ['update', '-q'], { stdio: 'inherit', env })
  // Only the programs: no service is to be started beside the servers of the tests.
  execFileSync('apt-get', ['install', '-q', '-y', '--no-install-recommends', ...packages], {
    stdio: 'inherit',
    env: { ...env, RUNLEVEL: '1' },
  })
}

const missing = programs.filter((program) => !isThere(program))
if (missing.length > 0 && process.getuid?.() === 0) {
  try {
    installFromDebian(missing)
  } catch (error) {
    console.error(String(error))
  }
}
for (const { names, debianPackage, otherWay } of missing.filter((program) => !isThere(program))) {
  console.error(
    `The tests need ${names[0]}, and there is none. Install it and make it findable: apt-get install ${debianPackage}, or ${otherWay}.`,
  )
  process.exitCode = 1
}

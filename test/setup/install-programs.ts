import { spawnSync } from 'node:child_process'
import { isThere, lookAgain, packageOf, programs } from './programs.ts'

/**
 * Installs programs that are not there, where it may: as root, where there is apt-get. Says so first; what cannot be
 * had is no error.
 * @param names of `programs.ts`
 */
export function installPrograms(names: readonly string[]): void {
  const missing = names.filter((name) => !isThere(name))
  if (missing.length === 0) return
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).error) {
    console.log(`Not here, and not installed (root could, on Debian): ${missing.join(', ')}.`)
    return
  }
  const packages = [...new Set(missing.map(packageOf))]
  console.log(`Installing Debian packages that tests need: ${packages.join(', ')}.`)
  runAptGet('update', '-q')
  if (!runAptGet(...installation, ...packages)) {
    // One that conflicts with what is there, or that this release does not have, must not keep out the others.
    for (const name of packages) runAptGet(...installation, name)
  }
  lookAgain()
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

// `node test/setup/install-programs.ts`
if (import.meta.main) installPrograms(Object.keys(programs))

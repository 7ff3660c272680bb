import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { tempFolder } from './run.ts'

const source = readFileSync('src/main.ts', 'utf8')
const systemNode = '/usr/bin/node'

t.test('the Node version checked at start is that of the package', async (t) => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly engines: { node: string }
  }
  const [, major, minor] = /const minimumVersion = \[(\d+), (\d+)\]/.exec(source) ?? []
  t.equal(engines.node, `>=${major}.${minor}.0`)
})

t.test('an older Node prints the version needed, without a stack trace', async (t) => {
  const major = versionOf(systemNode)
  if (major === undefined || major >= 24)
    return void t.pass('printed', { skip: 'there is no older Node here' })
  // As in the package: plain JavaScript, next to files that an older Node cannot load.
  const folder = tempFolder(t)
  mkdirSync(join(folder, 'dist'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'dist/main.js'), stripTypeScriptTypes(source))
  symlinkSync(join(process.cwd(), 'src/platform/package.ts'), join(folder, 'dist/package.ts'))
  const { status, stderr } = spawnSync(systemNode, [join(folder, 'dist/main.js')], { encoding: 'utf8' })
  t.equal(status, 1)
  t.match(stderr, /^gatehouse: requires Node 24\.18 or newer; \S+ is v\d+\.\d+\.\d+\n$/)
})

/** The major version of a Node; undefined where there is none. */
function versionOf(node: string): number | undefined {
  try {
    return Number(/\d+/.exec(execFileSync(node, ['--version'], { encoding: 'utf8' }))?.[0])
  } catch {
    return undefined
  }
}

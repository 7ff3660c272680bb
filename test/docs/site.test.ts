import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import t from 'tap'

// slow: builds the site of the documentation, half a minute

const command = 'npm --prefix docs/site ci && npm --prefix docs/site run build'
const isInstalled = existsSync('docs/site/node_modules/vitepress')

t.test('every page is on the site, and its index leads to each page of docs', async (t) => {
  const index = readFileSync('docs/README.md', 'utf8') + readFileSync('README.md', 'utf8')
  t.strictSame(
    globSync('docs/*.md').filter((page) => page !== 'docs/README.md' && !index.includes(page.slice(5))),
    [],
  )
  t.match(readFileSync('CONTRIBUTING.md', 'utf8'), command)
})

t.test('the packages of the site are pinned, and none runs a script at its installation', async (t) => {
  const manifest = JSON.parse(readFileSync('docs/site/package.json', 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>
  }
  for (const version of Object.values(manifest.devDependencies)) t.match(version, /^\d+\.\d+\.\d+$/)
  t.match(readFileSync('docs/site/.npmrc', 'utf8'), /^ignore-scripts=true$/m)
  t.notMatch(readFileSync('docs/site/package-lock.json', 'utf8'), '"resolved"')
})

t.test('the site is built, without a dead link', { skip: !isInstalled && `run: ${command}` }, async (t) => {
  const { stdout, stderr } = await promisify(execFile)('npm', ['--prefix', 'docs/site', 'run', 'build'])
  t.notMatch(stdout + stderr, /Error:/)
  const pages = globSync('docs/**/*.md', { exclude: ['docs/site/**'] })
  const names = pages.map((page) => page.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html'))
  t.strictSame(
    names.filter((name) => !existsSync(`docs/site/dist/${name}`)),
    [],
  )
  t.ok(existsSync('docs/site/dist/deploy/dashboards/grafana.json'), 'what pages link to is there too')
})

import { randomBytes } from 'node:crypto'
import { globSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { run, tempFolder } from '../cli/run.ts'
import { makeCertificate } from '../setup/certificates.ts'
import { type Snippet, snippetsOf } from './snippets.ts'

type Tree = Readonly<Record<string, unknown>>

const pages = globSync(['README.md', 'docs/*.md', 'docs/operators/*.md'])
const snippets = pages.flatMap(snippetsOf).filter(({ language }) => language === 'yaml')

/** Whether it is a config of Gatehouse, not of another program (Prometheus, Kubernetes, another gateway), nor a file of accounts. */
function isOurs({ text }: Snippet): boolean {
  return !/^(?:scrape_configs|rule_files|apiVersion|_format_version|services|apiEndpoints|accounts):/m.test(
    text,
  )
}

/** What a part of a config leaves out: upstreams that its routes name, and a route at all. */
function completed(tree: Tree): Tree {
  // The casts are sound: `check` refuses what is not so.
  const routes = (tree.routes ?? []) as readonly { readonly upstream?: string }[]
  const named = routes.flatMap(({ upstream }) => (upstream === undefined ? [] : [upstream]))
  const upstreams = Object.fromEntries(
    [...named, 'any'].map((name) => [name, { targets: [{ url: 'http://127.0.0.1:3000' }] }]),
  )
  const route = { name: 'any', path: '/any', upstream: 'any', auth: 'any' }
  return { ...tree, upstreams: { ...upstreams, ...(tree.upstreams as Tree) }, routes: [route, ...routes] }
}

/** Every `{ file }` and `{ env }` of a value, so that the test can make them. */
function secretsIn(value: unknown): readonly Tree[] {
  if (typeof value !== 'object' || value === null) return []
  const tree = value as Tree
  return [...('file' in tree || 'env' in tree ? [tree] : []), ...Object.values(tree).flatMap(secretsIn)]
}

const certificate = makeCertificate(t, 'DNS:localhost')

/** What a file of this name would have. */
function contentOf(file: string): string {
  if (/\.crt$|ca\.pem$/.test(file)) return certificate.cert
  if (file.endsWith('.svg')) return '<svg xmlns="http://www.w3.org/2000/svg"/>'
  return file.endsWith('tls.key') ? certificate.key : randomBytes(32).toString('base64')
}

t.ok(snippets.filter(isOurs).length > 15)

for (const snippet of snippets.filter(isOurs)) {
  t.test(`check accepts the config in ${snippet.page}, ${snippet.heading}`, async (t) => {
    const folder = tempFolder(t)
    // Absolute paths are those of the machine of the reader.
    const moved = snippet.text.replaceAll(/(?<=(?:file|path): )\/(?=(?:var|run|etc)\/)/g, `${folder}/`)
    const tree = completed(parse(moved) as Tree)
    const env: Record<string, string> = {}
    for (const { file, env: name } of secretsIn(tree)) {
      if (typeof name === 'string') env[name] = 'a secret of some length'.repeat(2)
      if (typeof file !== 'string') continue
      mkdirSync(dirname(join(folder, file.replace(folder, ''))), { recursive: true })
      writeFileSync(join(folder, file.replace(folder, '')), contentOf(file))
    }
    mkdirSync(join(folder, 'var/lib/gatehouse'), { recursive: true })
    const config = join(folder, 'gateway.yaml')
    writeFileSync(config, stringify(tree))
    const { status, stdout, stderr } = await run(t, ['check', '--config', config], { cwd: folder, env })
    t.equal(status, 0, stdout + stderr)
  })
}

t.test('a config with a misspelt option would be found', async (t) => {
  const config = join(tempFolder(t), 'gateway.yaml')
  writeFileSync(
    config,
    stringify(
      completed({ routes: [{ name: 'a', path: '/a', upstream: 'a', auth: 'any', maxbody: '1MiB' }] }),
    ),
  )
  t.match(await run(t, ['check', '--config', config]), { status: 1, stdout: /maxBody/ })
})

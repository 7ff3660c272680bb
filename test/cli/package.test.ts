import { spawnSync } from 'node:child_process'
import t from 'tap'

t.test('the package has its licence and manuals, and no source whose imports it lacks', async (t) => {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    encoding: 'utf8',
  })
  const answer: unknown = JSON.parse(stdout)
  // A list or, in newer versions of npm, a map by name.
  const [packed] = Object.values(answer as object) as [
    { readonly files: readonly { readonly path: string }[] },
  ]
  const paths = packed.files.map(({ path }) => path)
  for (const path of [
    'LICENSE',
    'README.md',
    'docs/operating.md',
    'docs/decisions/0001-libraries.md',
    'config/gateway.yaml',
  ]) {
    t.ok(paths.includes(path), path)
  }
  t.strictSame(
    paths.filter((path) => path.endsWith('.ts')),
    [],
  )
})

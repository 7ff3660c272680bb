import t from 'tap'
import { declarationsOf, programsOf } from './declarations.ts'
import { parseOptions } from './options.ts'
import { allTestFiles, isQuick, selectFiles } from './select.ts'
import { touchedBy } from './watch.ts'

t.test('nothing named is every quick test, or everything', async (t) => {
  const quick = selectFiles([], 'quick')
  const all = selectFiles([], 'all')
  t.strictSame(all, { files: allTestFiles(), left: [], unknown: [] })
  t.strictSame(quick.files, allTestFiles().filter(isQuick))
  t.strictSame([...quick.files, ...quick.left].toSorted(), allTestFiles())
})

t.test('a folder is named with test/ or without, and only its quick files are run', async (t) => {
  const { files } = selectFiles(['identity/'], 'quick')
  t.ok(files.length > 10)
  t.ok(files.every((file) => file.startsWith('test/identity/')))
  t.strictSame(selectFiles(['test/identity'], 'quick').files, files)
  t.strictSame(selectFiles(['./test/identity/'], 'quick').files, files)
  const fronts = selectFiles(['fronts/'], 'quick')
  t.strictSame(fronts.files, [])
  t.equal(fronts.left.length, selectFiles(['fronts/'], 'all').files.length)
})

t.test('a folder is not one whose name starts alike', async (t) => {
  const inDocs = selectFiles(['docs/'], 'all').files
  t.ok(inDocs.length > 0)
  t.ok(inDocs.every((file) => file.startsWith('test/docs/')))
})

t.test('a file that is named is run whatever it needs, several are run together', async (t) => {
  const front = 'test/fronts/nginx.test.ts'
  t.notOk(isQuick(front))
  for (const name of [front, `./${front}`, 'fronts/nginx.test.ts'])
    t.strictSame(selectFiles([name], 'quick'), { files: [front], left: [], unknown: [] })
  const both = selectFiles([front, 'test/identity/authorize.test.ts'], 'quick').files
  t.strictSame(both, [front, 'test/identity/authorize.test.ts'])
})

t.test('what no test is called is said', async (t) => {
  t.strictSame(selectFiles(['nowhere/', 'identity/'], 'quick').unknown, ['nowhere/'])
})

t.test('a test needs what its helpers need, directly or through others', async (t) => {
  t.strictSame(declarationsOf('test/fronts/nginx.test.ts').needs, ['curl', 'nginx'])
  t.ok(
    declarationsOf('test/portal/keys.test.ts').needs.includes('chromium'),
    'through portal/support/portal.ts',
  )
  t.strictSame(declarationsOf('test/fronts/nginx.test.ts').uses, ['redis-server'])
  t.strictSame(programsOf('test/identity/authorize.test.ts'), [])
})

t.test('a change runs the tests that import it, directly or through others, or are it', async (t) => {
  const files = ['test/identity/proof-replays.test.ts', 'test/gateway/routes/table.test.ts']
  t.strictSame(touchedBy(['test/gateway/routes/table.test.ts'], files), ['test/gateway/routes/table.test.ts'])
  t.strictSame(touchedBy(['src/gateway/routes/table.ts'], files), ['test/gateway/routes/table.test.ts'])
  t.strictSame(touchedBy(['src/portal/portal.ts'], files), [])
})

t.test('options are read, and unknown ones refused', async (t) => {
  t.match(parseOptions(['--jobs=3', 'identity/']), {
    jobs: 3,
    parts: ['identity/'],
    all: false,
    watch: false,
  })
  t.equal(parseOptions(['--help']), undefined)
  for (const wrong of [['--jobs=0'], ['--jobs=9'], ['--jobs=x'], ['--fast'], ['--all', '--watch']])
    t.throws(() => parseOptions(wrong), wrong.join(' '))
  t.match(parseOptions(['--jobs=8']), { jobs: 8 })
  for (const [args, coverage] of [
    [['--all'], true],
    [['--all', '--no-coverage'], false],
    [['--all', 'identity/'], false],
    [[], false],
    [['--coverage'], true],
  ] as const)
    t.match(parseOptions(args), { coverage }, args.join(' '))
})

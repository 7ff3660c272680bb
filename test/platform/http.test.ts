import { execFileSync } from 'node:child_process'
import t from 'tap'

t.test('what a start loads does not load Undici with it', async (t) => {
  const loaded = [
    'cli/serve',
    'runtime/fleet/fleet',
    'runtime/fleet/run-worker',
    'store/sqlite/store',
    'store/redis/store',
  ]
  const script = `
    for (const path of ${JSON.stringify(loaded)}) await import('./src/' + path + '.ts')
    console.log(JSON.stringify(process.moduleLoadList))
  `
  const list = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' })
  t.match(list, '"NativeModule http"')
  t.notMatch(list, 'undici', 'instead of node:http import src/platform/http.ts')
})

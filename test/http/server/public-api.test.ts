import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)
/** As with `node --permission`, which denies access to what lies below streams. */
const withoutInternals = '--import=data:text/javascript,process.binding=undefined'

for (const name of ['listener', 'half-closed', 'keep-alive', 'preface', 'body-rate', 'read-buffers'])
  t.test(`${name}.test.ts passes where everything goes through streams`, async (t) => {
    const { stdout } = await run(process.execPath, [
      withoutInternals,
      `${import.meta.dirname}/${name}.test.ts`,
    ])
    t.match(stdout, /^# \{ total: \d+, pass: \d+ \}$|^1\.\.[1-9]\d*$/m)
  })

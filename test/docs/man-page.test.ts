import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { allCommands } from '#cli/main.ts'

// needs: groff

/** Wide, and without the codes of a terminal for bold text. */
const format = ['-man', '-ww', '-Tutf8', '-rLL=200n', '-P-cbou']

t.test('groff formats the manual page without a warning, and it has every command and example', async (t) => {
  // A list: npm links no page that is named as a text.
  const { man } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly man: readonly [string] }
  t.ok(Array.isArray(man) && existsSync(man[0]), 'the package installs it')
  const { stdout, stderr } = spawnSync('groff', [...format, ...man], { encoding: 'utf8' })
  t.equal(stderr, '')
  for (const { name, examples } of await allCommands()) {
    t.match(stdout, new RegExp(`^ {3}${name}$`, 'm'))
    for (const line of examples) t.ok(stdout.includes(line), line)
  }
  for (const text of ['-V, --version', 'GATEHOUSE_CONFIG', 'GATEHOUSE__', 'Examples:'])
    t.ok(stdout.includes(text), text)
})

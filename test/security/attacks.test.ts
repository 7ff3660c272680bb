import { existsSync, readdirSync, readFileSync } from 'node:fs'
import t from 'tap'

const folder = 'test/security'
const named = [...readFileSync(`${folder}/README.md`, 'utf8').matchAll(/`([\w/.-]+\.test\.ts)`/g)].map(
  ([, name = '']) => (name.includes('/') ? name : `${folder}/${name}`),
)

t.test('every test that the table of attacks names exists', async (t) => {
  t.ok(named.length > 40)
  t.strictSame(
    named.filter((file) => !existsSync(file)),
    [],
  )
})

t.test('the table of attacks names every test of its folder', async (t) => {
  const tests = readdirSync(folder).filter((name) => name.endsWith('.test.ts'))
  t.strictSame(
    tests.filter((name) => !named.includes(`${folder}/${name}`)),
    [],
  )
})

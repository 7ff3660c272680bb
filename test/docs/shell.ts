import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { createKey, digestOf } from '#platform/secrets/keys.ts'
import { createCommandFolder } from '../cli/command-folder.ts'
import { configOf } from '../cli/workspace.ts'
import { snippetsOf } from './snippets.ts'

const digest = Buffer.from(digestOf(createKey('secretKey', 'elsewhere', 'old'))).toString('hex')
const files = {
  'people.csv': 'email,firstName\ncyd@example.com,Cyd\n',
  'digests.csv': `account,digest,name\nada@example.com,${digest},old\n`,
  'password.txt': 'correct horse battery\n',
  'new.yaml': configOf({
    routes: [{ name: 'orders', path: '/orders', upstream: 'backend', auth: 'any' }],
  }),
}
const inConfigFolder = configOf({
  issuers: [{ name: 'corp', issuer: 'https://127.0.0.1:1', audience: 'orders' }],
  keys: { sealingKey: { file: '../data/sealing.key' } },
  store: { sqlite: { path: '../data/gatehouse.db' } },
})

/** The shell lines below a heading, joined where they go on. */
export function linesOf(page: string, heading: string, index = 0): readonly string[] {
  const found = snippetsOf(page).filter((each) => each.heading === heading && each.language === 'sh')[index]
  if (!found) throw new Error(`no sh ${index} under ${heading} in ${page}`)
  return found.text
    .replaceAll(/\\\n\s*/g, '')
    .trim()
    .split('\n')
}

/** A shell in a folder with a config, where the command `gatehouse` is found. */
export function createShell(t: Test) {
  const folder = createCommandFolder(t, files)
  writeFileSync(join(folder, 'config/gateway.yaml'), inConfigFolder)
  mkdirSync(join(folder, 'backup'))
  const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder, KEY: 'gate_sk_x' }
  async function run(script: string): Promise<string> {
    const options = { cwd: folder, env, timeout: 60_000 }
    return (await promisify(execFile)('bash', ['--norc', '-eo', 'pipefail', '-c', script], options)).stdout
  }
  return { folder, run }
}

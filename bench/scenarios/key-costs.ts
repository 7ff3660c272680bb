import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Operator, withOperator } from '#cli/operator.ts'
import type { Bench } from '../bench.ts'
import type { Subject } from '../subjects/subject.ts'
import { loadFigures, measureLoad } from './load-figures.ts'
import { numbered, withKeys } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

const accountCount = 200
const keysEach = 20

const onlyKey = 'the only key'

/** What further keys, quotas and usage cost a request. */
export const keyCosts: Scenario = {
  summary: 'Small GET with a secret key: what further keys, a quota and usage cost',
  figures: loadFigures,
  compared: 'cpuUs',
  yardsticks: [
    onlyKey,
    `${onlyKey}, each head another`,
    'nothing counted',
    'nothing counted, each head another',
  ],
  note:
    '200 accounts in turn. `one of twenty`: the key that was created last. `quota`: a plan whose quota is never used ' +
    'up. These are one process. `nothing counted` is another: a copy of the program whose usage meter is empty, and ' +
    'no plan. `each head another`: each request has a field with a new number, so that no head is cached.',
  async open(bench) {
    const subject = await bench.gateway(bench.gateways[0], { config: { plans } })
    const [one, twenty, limited] = await withOperator({ file: subject.configFile, env: {} }, (operator) =>
      Promise.all([
        createKeys(operator, 'one'),
        createTwenty(operator),
        createKeys(operator, 'limited', 'large'),
      ]),
    )
    const uncounted = await bench.gateway({ label: 'nothing counted', checkout: copyWithoutUsage(bench) })
    const ways: readonly (readonly [name: string, subject: Subject, keys: readonly string[]])[] = [
      [onlyKey, subject, one],
      ['one of twenty', subject, twenty],
      ['quota', subject, limited],
      ['nothing counted', uncounted, uncounted.credentials.secretKeys],
    ]
    return ways.flatMap(([name, who, keys]) => waysOf(bench, { name, who, keys }))
  },
}

const plans = { large: { quota: { limit: 1_000_000_000_000, per: 'month' } } }

function waysOf(
  bench: Bench,
  { name, who, keys }: { readonly name: string; readonly who: Subject; readonly keys: readonly string[] },
): readonly Contestant[] {
  const requests = withKeys('GET /any', keys)
  return [
    { name, measure: () => measureLoad(bench, who, { requests }) },
    { name: `${name}, each head another`, measure: () => measureLoad(bench, who, numbered(requests)) },
  ]
}

async function createKeys({ accounts }: Operator, name: string, plan?: string): Promise<readonly string[]> {
  const created = await accounts.createAll(
    Array.from({ length: accountCount }, (_, index) => ({
      email: `${name}${index}@example.com`,
      firstName: '',
      lastName: '',
      role: 'User',
      isVerified: true,
      plan,
    })),
  )
  return created.map(({ secretKey }) => secretKey)
}

/** @returns the key of each account that was created last */
async function createTwenty(operator: Operator): Promise<readonly string[]> {
  await createKeys(operator, 'twenty')
  const keys: string[] = []
  for (let index = 0; index < accountCount; index++) {
    const { id } = await operator.accounts.get(`twenty${index}@example.com`)
    let last = ''
    for (let count = 1; count < keysEach; count++) {
      const limits = { scopes: [], addresses: [], expiresAt: undefined }
      last = await operator.secretKeys.create(id, { name: `key-${count}`, ...limits })
    }
    keys.push(last)
  }
  return keys
}

/** A copy of this checkout that counts no usage, as there is no option for that. */
function copyWithoutUsage({ gateways: [{ checkout }] }: Bench): string {
  const copy = mkdtempSync(join(tmpdir(), 'gatehouse-bench-copy-'))
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }))
  for (const name of ['src', 'package.json'])
    cpSync(join(checkout, name), join(copy, name), { recursive: true })
  symlinkSync(join(checkout, 'node_modules'), join(copy, 'node_modules'))
  const file = join(copy, 'src/gateway/server/usage-meter.ts')
  const source = readFileSync(file, 'utf8')
  const changed = source.replace(
    / {2}return \{\n.*?\n {2}\}\n/s,
    '  return { onForwarded: () => {}, onUnits: () => {} }\n',
  )
  if (changed === source || !changed.includes('onForwarded: () => {}'))
    throw new Error(`${file} reads otherwise than expected`)
  writeFileSync(file, changed.replace('(recorder:', '(_recorder:'))
  return copy
}

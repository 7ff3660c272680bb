import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { parseSealingKey, readSealingKeys } from '#platform/secrets/sealing-key.ts'
import { openInProcesses, openInThreads } from '../../accounts/sealing-key-racers.ts'

const dir = mkdtempSync(join(tmpdir(), 'gatehouse-sealing-'))
t.teardown(() => rmSync(dir, { recursive: true, force: true }))

const key = randomBytes(32)

t.test('a sealing key may be base64, base64url or hexadecimal, with space around', async (t) => {
  // Bytes in which the two alphabets of base64 differ.
  const special = Buffer.alloc(32, 0xfb)
  for (const bytes of [key, special, Buffer.alloc(32)]) {
    for (const encoding of ['base64', 'base64url', 'hex'] as const) {
      const text = bytes.toString(encoding)
      for (const written of [text, `${text}\n`, `${text}\r\n`, `  ${text} `]) {
        t.equal(parseSealingKey(written)?.toString('hex'), bytes.toString('hex'), written)
      }
    }
    t.equal(parseSealingKey(bytes.toString('hex').toUpperCase())?.toString('hex'), bytes.toString('hex'))
  }
})

t.test('a sealing key of another length is refused', async (t) => {
  for (const length of [0, 1, 16, 24, 31, 33, 48, 64]) {
    for (const encoding of ['base64', 'base64url', 'hex'] as const) {
      t.equal(parseSealingKey(randomBytes(length).toString(encoding)), undefined, `${length} ${encoding}`)
    }
  }
})

t.test('text that is not a sealing key is refused', async (t) => {
  const text = key.toString('base64')
  for (const wrong of [
    `${text}=`,
    `=${text.slice(1)}`,
    `${text.slice(0, 20)} ${text.slice(20)}`,
    `"${text}"`,
    'é'.repeat(43),
    `!${text.slice(1)}`,
  ]) {
    t.equal(parseSealingKey(wrong), undefined, wrong)
  }
})

t.test('a bad sealing key is refused without being shown', async (t) => {
  const file = join(dir, 'short.key')
  writeFileSync(file, 'c2VjcmV0')
  for (const source of [{ kind: 'file', file } as const, { kind: 'value', value: 'c2VjcmV0' } as const]) {
    t.throws(() => readSealingKeys(source, { mayCreate: true }).current, OperatorError)
    t.throws(() => readSealingKeys(source, { mayCreate: true }).current, { message: /32 bytes/ })
    t.doesNotThrow(() => {
      try {
        readSealingKeys(source, { mayCreate: true }).current
      } catch (error) {
        if (JSON.stringify(error).includes('c2VjcmV0') || String(error).includes('c2VjcmV0')) throw error
      }
    }, 'the key is in no message')
  }
  t.equal(readFileSync(file, 'utf8'), 'c2VjcmV0', 'nor replaced: what it sealed may come back')
})

t.test('a missing sealing key file is created, readable by its owner alone', async (t) => {
  const file = join(dir, 'made', 'here', 'sealing.key')
  const made = readSealingKeys({ kind: 'file', file }, { mayCreate: true }).current
  t.equal(made.length, 32)
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.equal(statSync(join(dir, 'made')).mode & 0o777, 0o700)
  t.strictSame(readdirSync(join(dir, 'made', 'here')), ['sealing.key'], 'no draft is left')
  t.strictSame(readSealingKeys({ kind: 'file', file }, { mayCreate: true }).current, made, 'once')
  t.not(
    made.toString('hex'),
    readSealingKeys({ kind: 'file', file: join(dir, 'b.key') }, { mayCreate: true }).current.toString('hex'),
  )
})

t.test('no sealing key file is created where that is not allowed', async (t) => {
  const file = join(dir, 'absent.key')
  t.throws(() => readSealingKeys({ kind: 'file', file }, { mayCreate: false }).current, {
    message: /absent\.key: no such file/,
    hint: /openssl rand/,
  })
  t.equal(existsSync(file), false)
})

t.test('an unusable sealing key file is an operator error', async (t) => {
  const inTheWay = join(dir, 'in-the-way')
  writeFileSync(inTheWay, '')
  for (const file of [join(inTheWay, 'sealing.key'), dir]) {
    t.throws(() => readSealingKeys({ kind: 'file', file }, { mayCreate: true }).current, {
      name: 'OperatorError',
      message: file,
    })
  }
})

t.test('processes starting simultaneously agree on one sealing key', async (t) => {
  const file = join(dir, 'processes', 'sealing.key')
  const keys = await openInProcesses(t, file, 4)
  t.equal(keys.length, 4)
  t.strictSame(
    new Set(keys),
    new Set([readSealingKeys({ kind: 'file', file }, { mayCreate: false }).current.toString('hex')]),
  )
})

t.test('containers with equal process IDs on one volume agree on one sealing key', async (t) => {
  const files = Array.from({ length: 200 }, (_, round) => join(dir, 'containers', `${round}.key`))
  const opened = await openInThreads(t, files, 2)
  const torn = files.filter((file, round) => {
    const kept = readSealingKeys({ kind: 'file', file }, { mayCreate: false }).current.toString('hex')
    return opened[round]?.some((key) => key !== kept)
  })
  t.equal(torn.length, 0, 'no one has another key than the one that is kept, or none')
})

t.test('the permissions of an existing sealing key file are left alone', async (t) => {
  const file = join(dir, 'given.key')
  writeFileSync(file, key.toString('base64'))
  chmodSync(file, 0o440)
  t.strictSame(readSealingKeys({ kind: 'file', file }, { mayCreate: true }).current, key)
  t.equal(statSync(file).mode & 0o777, 0o440)
})

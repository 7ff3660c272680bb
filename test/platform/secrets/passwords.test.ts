import { argon2Sync, randomBytes } from 'node:crypto'
import t from 'tap'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { assertGoodPassword, createPasswords, passwordLength } from '#platform/secrets/passwords.ts'

const cheap = { memoryKiB: 64, passes: 1, parallelism: 1 }
const pepper = randomBytes(32)
const passwords = createPasswords({ pepper, parameters: cheap })

const place = { client: 'a', network: 'a', isKnown: false }

t.test('a password verifies against its hash, another does not', async (t) => {
  const stored = await passwords.hash('correct horse battery', place)
  t.equal(await passwords.verify('correct horse battery', stored, place), true)
  for (const wrong of ['correct horse batterx', 'Correct horse battery', '', 'correct horse battery ']) {
    t.equal(await passwords.verify(wrong, stored, place), false, wrong)
  }
  t.not(await passwords.hash('correct horse battery', place), stored, 'salted')
})

t.test('passwords are hashed with Argon2id, OWASP parameters and a key', async (t) => {
  const stored = await createPasswords({ pepper }).hash('correct horse battery', place)
  const [, algorithm, version, parameters, salt = '', tag = ''] = stored.split('$')
  t.strictSame([algorithm, version, parameters], ['argon2id', 'v=19', 'm=19456,t=2,p=1'])
  const options = {
    nonce: Buffer.from(salt, 'base64'),
    memory: 19_456,
    passes: 2,
    parallelism: 1,
    tagLength: 32,
  }
  const message = 'correct horse battery'
  const keyed = argon2Sync('argon2id', { ...options, message, secret: pepper })
  t.equal(Buffer.from(keyed).toString('base64').replace(/=+$/, ''), tag)
  const plain = argon2Sync('argon2id', { ...options, message })
  t.not(Buffer.from(plain).toString('base64').replace(/=+$/, ''), tag)
})

t.test('a correct password cannot be distinguished from a wrong one without the sealing key', async (t) => {
  const stored = await passwords.hash('correct horse battery', place)
  const thief = createPasswords({ pepper: randomBytes(32), parameters: cheap })
  t.equal(await thief.verify('correct horse battery', stored, place), false)
})

t.test('no password verifies against a missing or malformed hash', async (t) => {
  const long = `$argon2id$v=19$m=9999999,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
  for (const stored of [undefined, '', 'x', '$argon2i$v=19$m=64,t=1,p=1$AAAA$AAAA', long]) {
    t.equal(await passwords.verify('correct horse battery', stored, place), false, String(stored))
    t.equal(await passwords.verify('', stored, place), false)
  }
})

t.test('a hash with other parameters verifies, and is reported as outdated', async (t) => {
  const old = createPasswords({ pepper, parameters: { memoryKiB: 32, passes: 2, parallelism: 1 } })
  const stored = await old.hash('correct horse battery', place)
  t.equal(await passwords.verify('correct horse battery', stored, place), true)
  t.equal(passwords.needsRehash(stored), true)
  t.equal(passwords.needsRehash(await passwords.hash('correct horse battery', place)), false)
})

t.test('a password is normalised, so equivalent code points are the same', async (t) => {
  const stored = await passwords.hash('Pa\u0308sswo\u0308rter', place)
  t.equal(await passwords.verify('P\u00e4ssw\u00f6rter', stored, place), true)
})

t.test('a password has at least 12 characters and at most 1024 bytes', async (t) => {
  const { charactersMin, bytesMax } = passwordLength
  const signs = [...'😀🦊🌲🚲🍋🎻🧊🐙🪁🥁🛶🔭']
  t.equal(signs.length, charactersMin)
  for (const good of ['kzqwvxjyhgbm', signs.join(''), `${'kite '.repeat(204)}wind`]) {
    t.doesNotThrow(() => assertGoodPassword(good, undefined), good)
  }
  for (const bad of ['', 'a'.repeat(charactersMin - 1), signs.slice(1).join('')]) {
    t.match(thrown(bad), { code: 'request-invalid', errors: [{ field: 'password', message: /at least 12/ }] })
  }
  for (const bad of ['a'.repeat(bytesMax + 1), 'ä'.repeat(bytesMax / 2 + 1), 'a'.repeat(1e6)]) {
    t.match(thrown(bad), {
      code: 'request-invalid',
      errors: [{ field: 'password', message: /at most 1024/ }],
    })
  }
  const stored = await passwords.hash('a'.repeat(bytesMax), place)
  t.equal(await passwords.verify('a'.repeat(bytesMax), stored, place), true)
  t.equal(await passwords.verify('a'.repeat(bytesMax + 1), stored, place), false)
})

function thrown(password: string): unknown {
  try {
    assertGoodPassword(password, undefined)
  } catch (error) {
    return error instanceof GatehouseError ? error : undefined
  }
  return undefined
}

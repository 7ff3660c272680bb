import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createSealer, deriveKey } from '#platform/secrets/sealing.ts'

const sealer = createSealer(randomBytes(32))

t.test('a sealed secret opens for its purpose', async (t) => {
  for (const secret of ['', 'gsk_1', 'ключ 🔑', 'x'.repeat(100_000)]) {
    t.equal(sealer.unseal(sealer.seal(secret, 'secretKey:a'), 'secretKey:a'), secret)
  }
})

t.test('a secret sealed for one purpose does not open for another', async (t) => {
  const sealed = sealer.seal('gsk_1', 'secretKey:a')
  for (const purpose of ['secretKey:b', 'apiKey:a', '', 'secretKey:a ', 'secretKey', 'signingKey:a']) {
    t.equal(sealer.unseal(sealed, purpose), undefined, purpose)
  }
})

t.test('a sealed secret changed anywhere does not open', async (t) => {
  const sealed = sealer.seal('gsk_1', 'secretKey:a')
  for (let index = 0; index < sealed.length; index++) {
    const changed = Buffer.from(sealed)
    changed.writeUInt8(changed.readUInt8(index) ^ 1, index)
    t.equal(sealer.unseal(changed, 'secretKey:a'), undefined, `byte ${index}`)
  }
})

t.test('a sealed secret cut or extended does not open', async (t) => {
  const sealed = sealer.seal('gsk_1', 'secretKey:a')
  for (let length = 0; length < sealed.length; length++) {
    t.equal(sealer.unseal(sealed.subarray(0, length), 'secretKey:a'), undefined, `${length} bytes`)
  }
  t.equal(sealer.unseal(sealed.subarray(1), 'secretKey:a'), undefined)
  t.equal(sealer.unseal(Buffer.concat([sealed, Buffer.alloc(1)]), 'secretKey:a'), undefined)
})

t.test('a sealed secret does not open with another sealing key', async (t) => {
  const stranger = createSealer(randomBytes(32))
  t.equal(stranger.unseal(sealer.seal('gsk_1', 'secretKey:a'), 'secretKey:a'), undefined)
})

t.test('sealing the same secret twice differs, and hides it', async (t) => {
  const secret = 'gsk_0123456789abcdef'
  const sealed = Array.from({ length: 1_000 }, () => Buffer.from(sealer.seal(secret, 'a')))
  t.equal(new Set(sealed.map((bytes) => bytes.toString('hex'))).size, sealed.length)
  const nonces = new Set(sealed.map((bytes) => bytes.subarray(0, 12).toString('hex')))
  t.equal(nonces.size, sealed.length, 'no nonce comes twice')
  t.notOk(sealed.some((bytes) => bytes.includes('gsk_')))
})

t.test('each purpose derives a different key from the sealing key', async (t) => {
  const sealingKey = randomBytes(32)
  const uses = ['seal', 'refresh-token', 'other'].map((use) => deriveKey(sealingKey, use))
  const keys = new Set([sealingKey, ...uses].map((key) => Buffer.from(key).toString('hex')))
  t.equal(keys.size, 4)
  for (const key of uses) t.equal(key.length, 32)
  t.strictSame(deriveKey(sealingKey, 'seal'), uses[0], 'and always the same')
})

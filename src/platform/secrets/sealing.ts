import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deriveKeys, type KeySource } from './key-source.ts'

const nonceBytes = 12
const tagBytes = 16

/** Seals small secrets (AES-256-GCM); what was sealed for one purpose cannot be unsealed for another. */
export interface Sealer {
  /** @param purpose what the secret is and whose, such as `secretKey:<account ID>` */
  seal(secret: string, purpose: string): Uint8Array
  /** undefined where it was sealed with another key or for another purpose, or has been tampered with. */
  unseal(sealed: Uint8Array, purpose: string): string | undefined
}

/** @param sealingKeys the first seals; what any of them has sealed can be unsealed */
export function createSealer(sealingKeys: KeySource): Sealer {
  const keys = deriveKeys(sealingKeys, 'seal')

  function seal(secret: string, purpose: string): Uint8Array {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', keys()[0], nonce).setAAD(Buffer.from(purpose))
    return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
  }

  function unseal(sealed: Uint8Array, purpose: string): string | undefined {
    if (sealed.length < nonceBytes + tagBytes) return undefined
    for (const key of keys()) {
      const secret = unsealWith(key, sealed, purpose)
      if (secret !== undefined) return secret
    }
    return undefined
  }

  return { seal, unseal }
}

function unsealWith(key: Uint8Array, sealed: Uint8Array, purpose: string): string | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(Buffer.from(purpose)).setAuthTag(sealed.subarray(-tagBytes))
  try {
    const secret = decipher.update(sealed.subarray(nonceBytes, -tagBytes))
    return Buffer.concat([secret, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

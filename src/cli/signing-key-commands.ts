import type { Config } from '#config/config.ts'
import { announcedMs, currentSigner } from '#identity/tokens/signing-keys.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import type { StoredSigningKey } from '#store/signing-keys.ts'
import { confirm, yesOption } from './ask.ts'
import type { Command } from './command.ts'
import { withOperator } from './operator.ts'
import { printData, printList } from './print.ts'

const list: Command = {
  name: 'signing-keys list',
  summary: 'Lists the signing keys of access tokens.',
  examples: ['gatehouse signing-keys list'],
  run: async (invocation) => {
    const data = await withOperator(invocation.config, async ({ config, signingKeys }) => {
      assertKeptInStore(config)
      return describe(await signingKeys.list(), config)
    })
    printList(invocation, data, {
      columns: {
        KID: ({ kid }) => kid,
        ALGORITHM: ({ algorithm }) => algorithm,
        STATE: ({ state }) => state,
        CREATED: ({ createdAt }) => createdAt,
        'SIGNS FROM': ({ signsFrom }) => signsFrom,
      },
      whenEmpty: 'No signing keys yet: the gateway creates the first one at startup.',
    })
  },
}

const rotate: Command = {
  name: 'signing-keys rotate',
  summary: 'Adds a signing key. It is published in the JWKS first, and signs after ten minutes.',
  examples: ['gatehouse signing-keys rotate'],
  options: {
    now: {
      help: 'Signs with the new key immediately, for when the current one has leaked.',
    },
  },
  run: async (invocation) => {
    const isNow = invocation.flag('now')
    const { kid, signsFrom } = await withOperator(invocation.config, async (operator) => {
      const { config, signingKeys, auditEntry } = operator
      assertKeptInStore(config)
      // Ensures that there is a key that signs until then.
      await signingKeys.load()
      return signingKeys.rotate(isNow ? 'now' : 'announced', (kid) =>
        auditEntry('signing-key-added', undefined, { kid }),
      )
    })
    const when = isNow ? 'signs from now on' : `is published, and signs in ${announcedMs / 60_000} minutes`
    printData(invocation, { kid, signsFrom: new Date(signsFrom).toISOString() }, [
      `Signing key ${kid} ${when}.`,
      isNow
        ? 'All others still verify, but none of them signs, not even an announced one. Retire each that has leaked: gatehouse signing-keys retire KID'
        : 'The previous key still verifies. Once its last tokens have expired, retire it: gatehouse signing-keys retire KID',
    ])
  },
}

const retire: Command = {
  name: 'signing-keys retire',
  operands: ['KID'],
  summary: 'Removes a signing key; access tokens signed with it become invalid.',
  examples: ['gatehouse signing-keys retire "$KID" --yes'],
  options: yesOption,
  run: async (invocation, kid) => {
    await withOperator(invocation.config, async ({ config, signingKeys, auditEntry }) => {
      assertKeptInStore(config)
      await confirm(invocation, `Remove the signing key ${kid}? Access tokens signed with it become invalid.`)
      await signingKeys.retire(kid, () => auditEntry('signing-key-retired', undefined, { kid }))
    })
    printData(invocation, { kid }, [`Signing key ${kid} removed.`])
  },
}

function assertKeptInStore({ tokens }: Config): void {
  if (tokens.keys.length === 0) return
  throw new OperatorError('the signing keys come from the config (tokens.keys), not from the store', {
    hint: 'Rotate them there: add the new one with use: verify, and switch it to use: sign once every verifier has it.',
  })
}

function describe(keys: readonly StoredSigningKey[], { tokens }: Config) {
  const now = Date.now()
  const signer = currentSigner(keys, tokens.algorithm, now)
  // A key that was announced before the one that signs will never sign.
  const isNewer = (createdAt: number) => createdAt > (signer?.createdAt ?? 0)
  return keys.map(({ kid, algorithm, createdAt, signsFrom }) => ({
    kid,
    algorithm,
    state:
      kid === signer?.kid ? 'signing' : signsFrom > now && isNewer(createdAt) ? 'announced' : 'verifying',
    createdAt: new Date(createdAt).toISOString(),
    signsFrom: new Date(signsFrom).toISOString(),
  }))
}

export const signingKeyCommands: readonly Command[] = [list, rotate, retire]

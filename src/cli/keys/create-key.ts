import { readFileSync } from 'node:fs'
import { boundCertificateData, createdKeyData } from '#accounts/account-data.ts'
import {
  keyLifetimeMsMax,
  parseQuota,
  quotaRule,
  quotaText,
  type SecretKeyInput,
} from '#accounts/keys/input.ts'
import { parseDurationMs } from '#config/units.ts'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import { dayMs } from '#platform/time.ts'
import { type Command, type Invocation, UsageError } from '../command.ts'
import { withOperator } from '../operator.ts'
import { fieldLines, printData, printToStderr } from '../print.ts'
import { namingOptions, printNewKey } from './key-options.ts'

export const createKeyCommand: Command = {
  name: 'keys create',
  operands: ['ID|EMAIL'],
  summary: 'Creates a further secret key and prints it, once; or makes a certificate a key.',
  examples: [
    'gatehouse keys create ada@example.com --name ci --expires 90d --scopes orders:read --from 10.0.0.0/8',
    'gatehouse keys create ada@example.com --name agent --quota 1000/day',
    'gatehouse keys create ada@example.com --name laptop --certificate client.pem',
  ],
  options: {
    name: { value: 'N', help: 'Name, such as ci; no two keys of an account may share one.' },
    expires: {
      value: '90d',
      help: 'How long the key is valid, such as 1h, but at least 1s; default: until it is revoked.',
    },
    scopes: {
      value: 'a,b',
      help: 'Limits the key to routes that name scopes, all of which are among these.',
    },
    from: {
      value: 'CIDR,…',
      help: 'Addresses and CIDR ranges that the key is accepted from; default: anywhere.',
    },
    quota: {
      value: '1000/day',
      help: 'How many requests (or units, see quotaCounts) the key may send in a day or month (UTC), such as 20000/month; default: as many as its account.',
    },
    certificate: {
      value: 'FILE',
      help: 'PEM file of a certificate to use as the key, instead of a new one; the key expires with the certificate at the latest.',
    },
  },
  run: async (invocation, who) => {
    const input = readKeyInput(invocation)
    const file = invocation.text('certificate')
    return file === undefined
      ? createKey(invocation, who, input)
      : bindCertificate(invocation, who, { input, pem: readCertificate(file) })
  },
}

function createKey(invocation: Invocation, who: string, input: SecretKeyInput): Promise<undefined> {
  return printNewKey(invocation, ({ secretKeys }) => namingOptions(secretKeys.create(who, input)), {
    kind: 'secret',
    data: (key) => createdKeyData(key, input),
    heading: 'Secret key created. Save it: it is not shown again.',
    facts: fieldLines(factsOf(createdKeyData('', input))),
  })
}

async function bindCertificate(
  invocation: Invocation,
  who: string,
  { input, pem }: { readonly input: SecretKeyInput; readonly pem: string },
): Promise<undefined> {
  const { bound, isAccepted } = await withOperator(invocation.config, async ({ secretKeys, config }) => ({
    bound: await namingOptions(secretKeys.bindCertificate(who, input, pem)),
    isAccepted: config.keys.accept.includes('certificate'),
  }))
  const data = boundCertificateData(bound)
  const { subject, sha256, validTo } = data.certificate
  printData(invocation, data, [
    'The certificate is a key of the account.',
    ...fieldLines({
      Subject: subject || '-',
      'SHA-256': sha256,
      'Valid to': validTo ?? '-',
      ...factsOf(data),
    }),
  ])
  if (!isAccepted)
    printToStderr(
      invocation.terminal,
      'It is accepted nowhere yet: keys.accept of this config does not name certificate.',
    )
}

function factsOf(data: Omit<ReturnType<typeof createdKeyData>, 'secretKey'>) {
  const { name, scopes, addresses, quota, expiresAt } = data
  return {
    Name: name,
    Scopes: scopes.join(',') || '-',
    From: addresses.join(',') || '-',
    Quota: quota ? quotaText(quota) : '-',
    Expires: expiresAt ?? '-',
  }
}

/** @throws OperatorError where the file cannot be read */
function readCertificate(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch (cause) {
    throw new OperatorError(`cannot read ${file}: ${errorMessage(cause)}`, { cause })
  }
}

/** @throws UsageError where the name is missing, or the lifetime is not a duration */
function readKeyInput(invocation: Invocation): SecretKeyInput {
  const name = invocation.text('name')
  if (name === undefined) throw new UsageError('--name is missing')
  return {
    name,
    scopes: readList(invocation, 'scopes'),
    addresses: readList(invocation, 'from'),
    quota: readQuota(invocation.text('quota')),
    expiresAt: readExpiry(invocation.text('expires')),
  }
}

function readQuota(text: string | undefined): SecretKeyInput['quota'] {
  if (text === undefined) return undefined
  const quota = parseQuota(text)
  if (quota !== undefined) return quota
  throw new UsageError(`--quota ${quotaRule}`)
}

/** A shorter one may be over before the key is stored. */
const lifetimeMsMin = 1_000

function readExpiry(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const lifetimeMs = parseDurationMs(text) ?? 0
  if (lifetimeMs >= lifetimeMsMin && lifetimeMs <= keyLifetimeMsMax) return Date.now() + lifetimeMs
  throw new UsageError(`--expires must be from 1s to ${keyLifetimeMsMax / dayMs}d, such as 90d or 1h`)
}

/** An option with an empty list is a mistake: without the option the key is not limited. */
function readList(invocation: Invocation, option: string): readonly string[] {
  const text = invocation.text(option)
  if (text === undefined) return []
  const items = text.split(',').map((item) => item.trim())
  if (items.includes('')) throw new UsageError(`--${option} must be a list with commas, without empty items`)
  return items
}

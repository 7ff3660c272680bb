import type { CreatedAccount } from '#accounts/accounts.ts'
import type { ConfigInput } from '#config/load.ts'
import { accessTokenPath } from '#gateway/routes/own-paths.ts'
import { type Carriers, createCarriers, keyField } from '#identity/keys/carriers.ts'
import type { Log } from '#platform/log/log.ts'
import { shellWord } from '#platform/text.ts'
import { spanText } from '#platform/time.ts'
import type { Gateway } from '#runtime/gateway.ts'
import { type Account, adminRole } from '#store/account.ts'
import type { Terminal } from './command.ts'
import { programWords } from './help.ts'
import { type Operator, withOperator } from './operator.ts'
import { print } from './print.ts'

/** The account created in an empty store, to try the gateway with, or an existing one. */
type FirstAccount =
  | {
      readonly kind: 'made'
      readonly created: CreatedAccount
      /** Where the portal password is set, and for how long. */
      readonly setup:
        | { readonly origin: string | undefined; readonly path: string; readonly lifetime: string }
        | undefined
      /** Whether the gateway can show the keys again. */
      readonly isShownAgain: boolean
      /** Where the gateway takes secret keys. */
      readonly carriers: Carriers
    }
  | {
      readonly kind: 'known'
      readonly account: Account
      readonly isShown: boolean
      readonly hasPortal: boolean
    }

interface WelcomeOptions {
  readonly terminal: Terminal
  readonly gateway: Gateway
  readonly log: Log
  /** The options of this command, to repeat in other command lines. */
  readonly given: ConfigInput
  /** The options that the gateway was started with. */
  readonly input: ConfigInput
}

const firstEmail = 'admin@localhost'

/**
 * Prints where a demo runs, with commands to paste; on an empty store for a new first account. If the store is
 * unreachable the demo continues without them, as the gateway itself does.
 */
export async function printWelcome({ terminal, gateway, log, given, input }: WelcomeOptions): Promise<void> {
  const { url, opsUrl } = gateway
  print(terminal, ['', `Gatehouse is running at ${url}; metrics at ${opsUrl}/metrics.`, ''])
  try {
    const first = await findOrCreateFirstAccount(input)
    if (first.kind === 'made') return print(terminal, linesToPaste(url, first))
    const { account, isShown, hasPortal } = first
    const keys = `keys ${isShown ? 'show' : 'reset-secret'} ${shellWord(account.email)}`
    const link = `Create a link to its portal: ${command(`accounts setup-link ${shellWord(account.email)}`, given)}`
    print(terminal, [
      `Show the keys of an account: ${command(keys, given)}`,
      ...(hasPortal ? [link] : []),
      '',
    ])
  } catch (err) {
    log.error({ err }, 'cannot create the first account')
    print(terminal, [`Create an account: ${command(`accounts create --email ${firstEmail}`, given)}`, ''])
  }
}

function findOrCreateFirstAccount(input: ConfigInput): Promise<FirstAccount> {
  const findOrCreate = async ({
    accounts,
    keys,
    store,
    setupLinks,
    config,
  }: Operator): Promise<FirstAccount> => {
    const hasPortal = config.portal.enabled
    const [any] = await accounts.list({ after: undefined, limit: 1 })
    const account = any && ((await store.findAccountByEmail(firstEmail)) ?? any)
    if (account) {
      const isShown = keys.unseal(account, 'secretKey') !== undefined
      return { kind: 'known', account, isShown, hasPortal }
    }
    const names = { firstName: '', lastName: '' }
    const admin = { email: firstEmail, ...names, role: adminRole, isVerified: true }
    const created = await accounts.create(admin)
    const isShownAgain = config.keys.reveal
    const carriers = createCarriers(config.keys.accept)
    if (!config.portal.acceptsPasswords)
      return { kind: 'made', created, setup: undefined, isShownAgain, carriers }
    // Only a path: the address that the demo listens on need not be the published one.
    const { token } = await setupLinks.create(created.account.id)
    return {
      kind: 'made',
      created,
      setup: {
        origin: config.portal.host === undefined ? undefined : config.portal.origin,
        path: `${config.portal.path}/setup#${token}`,
        lifetime: spanText(config.portal.setupLinkLifetimeMs),
      },
      isShownAgain,
      carriers,
    }
  }
  return withOperator(input, findOrCreate, { kind: 'system', channel: 'system' })
}

function command(words: string, { file, settings = [] }: ConfigInput): string {
  const options = [
    ...(file === undefined ? [] : [`--config ${shellWord(file)}`]),
    ...settings.map((setting) => `--set ${shellWord(setting)}`),
  ]
  return [programWords, words, ...options].join(' ')
}

function linesToPaste(
  url: string,
  { created, setup, isShownAgain, carriers }: Extract<FirstAccount, { kind: 'made' }>,
): string[] {
  const { account, secretKey, apiKey } = created
  const tokenCall = `curl -s ${url}${accessTokenPath} -H 'Content-Type: application/json' -d '{"SecretKey":"${secretKey}","APIKey":"${apiKey}"}'`
  return [
    `Account created: ${account.email}, role ${account.role}. Save these keys${isShownAgain ? '' : ', which are shown only this once'}:`,
    `  Secret key  ${secretKey}`,
    `  API key     ${apiKey}`,
    '',
    ...(setup === undefined
      ? []
      : [
          `Set its portal password with this one-time link (valid for ${setup.lifetime}):`,
          '',
          (setup.origin ?? url) + setup.path,
          '',
        ]),
    'Without credentials, with the secret key, and with a bearer token:',
    '',
    `curl -i ${url}/hello`,
    '',
    `curl ${url}/hello -H ${shellWord(keyField(carriers, secretKey).join(': '))}`,
    '',
    tokenCall,
    '',
    `curl ${url}/hello -H "Authorization: Bearer $(${tokenCall} | sed 's/.*"JwtToken":"\\([^"]*\\)".*/\\1/')"`,
    '',
  ]
}

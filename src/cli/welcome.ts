import type { CreatedAccount } from '../accounts/accounts.ts'
import type { ConfigInput } from '../config/load.ts'
import type { Gateway } from '../gateway.ts'
import type { Log } from '../log.ts'
import type { Account } from '../store/store.ts'
import { withOperator } from './operator.ts'
import { print } from './print.ts'
import type { Terminal } from './terminal.ts'

/** The account of an empty store, made to try the gateway with, or one that was there. */
type FirstAccount =
  | { readonly kind: 'made'; readonly created: CreatedAccount }
  | { readonly kind: 'known'; readonly account: Account; readonly isShown: boolean }

export interface Greeting {
  readonly terminal: Terminal
  readonly gateway: Gateway
  readonly log: Log
  /** What the command was called with, for others to be called with. */
  readonly given: ConfigInput
  /** What the gateway was started with. */
  readonly input: ConfigInput
}

const firstEmail = 'admin@localhost'
const gatehouse = 'npm run -s gatehouse --'

/**
 * Says where a demo runs, with lines to paste: on an empty store those of a first account. Where the store
 * does not answer the demo goes on without, as the gateway itself does.
 */
export async function greet({ terminal, gateway, log, given, input }: Greeting): Promise<void> {
  const { url, opsUrl } = gateway
  print(terminal, ['', `Gatehouse runs at ${url}; operators look at ${opsUrl}/metrics.`, ''])
  try {
    const first = await findFirstAccount(input)
    if (first.kind === 'made') return print(terminal, linesToPaste(url, first.created))
    const { account, isShown } = first
    const keys = `keys ${isShown ? 'show' : 'reset-secret'} ${quote(account.email)}`
    print(terminal, [`The keys of an account: ${command(keys, given)}`, ''])
  } catch (err) {
    log.error({ err }, 'the first account cannot be made')
    print(terminal, [
      `An account to try it with: ${command(`accounts create --email ${firstEmail}`, given)}`,
      '',
    ])
  }
}

function findFirstAccount(input: ConfigInput): Promise<FirstAccount> {
  return withOperator(input, async ({ accounts, store }) => {
    const [any] = await accounts.list({ after: undefined, limit: 1 })
    const account = any && ((await store.findAccountByEmail(firstEmail)) ?? any)
    if (account) {
      return { kind: 'known', account, isShown: accounts.reveal(account, 'secretKey') !== undefined }
    }
    const names = { firstName: '', lastName: '' }
    const admin = { email: firstEmail, ...names, role: 'Admin', isVerified: true }
    return { kind: 'made', created: await accounts.create(admin) }
  })
}

function command(words: string, { file, settings = [] }: ConfigInput): string {
  const options = [
    ...(file === undefined ? [] : [`--config ${quote(file)}`]),
    ...settings.map((setting) => `--set ${quote(setting)}`),
  ]
  return [gatehouse, words, ...options].join(' ')
}

/** As one word of a shell. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

function linesToPaste(url: string, { account, secretKey, apiKey }: CreatedAccount): string[] {
  const tokenCall = `curl -s ${url}/api/v1/accounts/access-token -H 'Content-Type: application/json' -d '{"SecretKey":"${secretKey}","APIKey":"${apiKey}"}'`
  return [
    `A first account has been made: ${account.email}, ${account.role}. Its keys are shown this once:`,
    `  Secret key  ${secretKey}`,
    `  API key     ${apiKey}`,
    '',
    'Without credentials, with the secret key, and with a bearer token:',
    '',
    `curl -i ${url}/hello`,
    '',
    `curl ${url}/hello -H 'SecretKey: ${secretKey}'`,
    '',
    tokenCall,
    '',
    `curl ${url}/hello -H "Authorization: Bearer $(${tokenCall} | sed 's/.*"JwtToken":"\\([^"]*\\)".*/\\1/')"`,
    '',
  ]
}

import type { IncomingMessage } from 'node:http'
import { accountDefaults } from '#accounts/account-input.ts'
import type { CreatedAccount } from '#accounts/accounts.ts'
import type { ConfigInput } from '#config/load.ts'
import { accessTokenPath } from '#gateway/routes/own-operations.ts'
import { listen } from '#gateway/server/listen.ts'
import { createCarriers, keyField } from '#identity/carriers.ts'
import { createServer } from '#platform/http.ts'
import type { Log } from '#platform/log/log.ts'
import { shellWord } from '#platform/text.ts'
import { spanText } from '#platform/time.ts'
import type { Gateway } from '#runtime/gateway.ts'
import { adminRole } from '#store/accounts.ts'
import { programWords, type Terminal } from './command.ts'
import { type Operator, withOperator } from './operator.ts'
import { print } from './print.ts'

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
    const lines = (operator: Operator) => welcomeLines(operator, url, given)
    print(terminal, await withOperator(input, lines, { kind: 'system', channel: 'system' }))
  } catch (err) {
    log.error({ err }, 'cannot create the first account')
    print(terminal, [`Create an account: ${command(`accounts create --email ${firstEmail}`, given)}`, ''])
  }
}

/** What to say about an account to try the gateway with: one that exists, or a new one. */
async function welcomeLines(operator: Operator, url: string, given: ConfigInput): Promise<readonly string[]> {
  const { accounts, defaultKeys, store, config } = operator
  const [any] = await accounts.list({ after: undefined, limit: 1 })
  const account = any && ((await store.findAccountByEmail(firstEmail)) ?? any)
  if (!account) {
    const admin = { ...accountDefaults, email: firstEmail, role: adminRole, isVerified: true }
    return linesToPaste(operator, url, await accounts.create(admin))
  }
  const email = shellWord(account.email)
  const isShown = defaultKeys.unseal(account, 'secretKey') !== undefined
  return [
    `Show the keys of an account: ${command(`keys ${isShown ? 'show' : 'reset-secret'} ${email}`, given)}`,
    ...(config.portal.enabled
      ? [`Create a link to its portal: ${command(`accounts setup-link ${email}`, given)}`]
      : []),
    '',
  ]
}

function command(words: string, { file, settings = [] }: ConfigInput): string {
  const options = [
    ...(file === undefined ? [] : [`--config ${shellWord(file)}`]),
    ...settings.map((setting) => `--set ${shellWord(setting)}`),
  ]
  return [programWords, words, ...options].join(' ')
}

async function linesToPaste(
  { setupLinks, config: { keys, portal } }: Operator,
  url: string,
  { account, secretKey, apiKey }: CreatedAccount,
): Promise<readonly string[]> {
  const setup = portal.acceptsPasswords ? await setupLinks.create(account.id) : undefined
  // The address that the demo listens on need not be the published one.
  const portalUrl = (portal.host === undefined ? url : portal.origin) + portal.path
  const tokenCall = `curl -s ${url}${accessTokenPath} -H 'Content-Type: application/json' -d '{"SecretKey":"${secretKey}","APIKey":"${apiKey}"}'`
  return [
    `Account created: ${account.email}, role ${account.role}. Save these keys${keys.reveal ? '' : ', which are shown only this once'}:`,
    `  Secret key  ${secretKey}`,
    `  API key     ${apiKey}`,
    '',
    ...(setup === undefined
      ? []
      : [
          `Set its portal password with this one-time link (valid for ${spanText(portal.setupLinkLifetimeMs)}):`,
          '',
          `${portalUrl}/setup#${setup.token}`,
          '',
        ]),
    'Without credentials, with the secret key, and with a bearer token:',
    '',
    `curl -i ${url}/hello`,
    '',
    `curl ${url}/hello -H ${shellWord(keyField(createCarriers(keys.accept), secretKey).join(': '))}`,
    '',
    tokenCall,
    '',
    `curl ${url}/hello -H "Authorization: Bearer $(${tokenCall} | sed 's/.*"JwtToken":"\\([^"]*\\)".*/\\1/')"`,
    '',
  ]
}

export function withDemoUpstream(input: ConfigInput, url: string): ConfigInput {
  return { ...input, settings: [...(input.settings ?? []), `upstreams.demo.targets=[{url: "${url}"}]`] }
}

const shownBytesMax = 65_536

/** Starts a backend on a free port of this machine that answers with the request that it received, as JSON. */
export async function openEchoServer(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request
    const body = await readText(request)
    const answer = JSON.stringify(
      { message: 'This is the demo backend. It received:', method, url, headers, body },
      undefined,
      2,
    )
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(answer),
    })
    response.end(answer)
  })
  const port = await listen(server, { host: '127.0.0.1', port: 0 }, 'upstreams.demo')
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** The part of the body that is shown; the rest is read and dropped. */
async function readText(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) {
    if (text.length < shownBytesMax) text += String(chunk)
  }
  return text.slice(0, shownBytesMax)
}

import { dirname, resolve } from 'node:path'
import type { CreatedAccount } from '#accounts/accounts.ts'
import type { Config } from '#config/config.ts'
import { demoConfig } from '#config/demo-config.ts'
import { type ConfigInput, environmentOf, type LoadedConfig, loadConfig } from '#config/load.ts'
import { formatPath, problemText } from '#config/problem.ts'
import { findInsecureFileModes } from '#config/warnings/secret-files.ts'
import { accessTokenPath } from '#gateway/routes/own-operations.ts'
import { addressOf } from '#gateway/server/listen.ts'
import { createCarriers, keyField } from '#identity/keys/carriers.ts'
import { createLog, type Log, logUncaughtErrors } from '#platform/log/log.ts'
import { readVersion } from '#platform/package.ts'
import { shellWord } from '#platform/text.ts'
import { spanText } from '#platform/time.ts'
import { logCertificateWarning } from '#runtime/assembly/reload.ts'
import { openEchoServer } from '#runtime/demo/echo-server.ts'
import { type Gateway, openGateway } from '#runtime/gateway.ts'
import { tuneForTraffic } from '#runtime/v8/tune-for-traffic.ts'
import { adminRole } from '#store/accounts.ts'
import { type Command, programWords, type Terminal, UsageError } from './command.ts'
import { type Operator, withOperator } from './operator.ts'
import { print } from './print.ts'
import { createReadyFile, openServiceManager, type ReadyFile, readServiceManager } from './readiness.ts'
import { reloadAtSignal, stopSignal } from './signals.ts'

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Runs the gateway until SIGTERM or SIGINT; a second signal forces an immediate stop.',
  printsData: false,
  examples: ['gatehouse serve --config my-gateway.yaml', 'gatehouse serve --demo'],
  options: {
    demo: {
      help: 'Also runs a small echo backend as the upstream "demo", and creates a first account if there is none.',
    },
    'ready-file': {
      value: 'PATH',
      help: 'File that {"url","opsUrl","pid"} (and "decideUrl", "redirectUrl") is written to as soon as requests are accepted.',
    },
  },
  run: async (invocation) => {
    const path = invocation.text('ready-file')
    if (path === '') throw new UsageError('--ready-file must be a path')
    const readyFile = path === undefined ? undefined : createReadyFile(path)
    if (!invocation.flag('demo')) return runGateway({ input: invocation.config, readyFile })
    const { terminal } = invocation
    const given = demoConfig(invocation.config)
    const echo = await openEchoServer()
    try {
      const input = withDemoUpstream(given, echo.url)
      const onReady: GatewayRun['onReady'] = (gateway, log) =>
        printWelcome({ terminal, gateway, log, given, input })
      return await runGateway({ input, readyFile, onReady })
    } finally {
      echo.close()
    }
  },
}

interface GatewayRun {
  readonly input: ConfigInput
  readonly readyFile: ReadyFile | undefined
  readonly onReady?: (gateway: Gateway, log: Log) => Promise<void>
}

/** Runs a gateway until a signal to stop. @returns the exit status */
async function runGateway({ input, readyFile, onReady }: GatewayRun): Promise<number> {
  let gateway: Gateway | undefined
  let reloads = 0
  // Before the config is read, so that no change of it is missed.
  const signals = reloadAtSignal(async () => {
    reloads++
    manager.reloading()
    await gateway?.reload()
    if (--reloads === 0) manager.ready()
  })
  const loaded = loadConfig(input)
  const { config } = loaded
  const log = createLog(config.log)
  logUncaughtErrors(log)
  const stop = stopSignal(log)
  const manager = openServiceManager(readServiceManager(environmentOf(input)), log)
  logCertificateWarning(config, log)
  gateway = await openGateway({ loaded, rereadConfig: () => loadConfig(input), log })
  logListening(config, gateway, log)
  warnOfInsecureFileModes(loaded, log)
  try {
    readyFile?.write(gateway)
    await onReady?.(gateway, log)
  } catch (error) {
    await gateway.shutDown()
    throw error
  }
  manager.ready()
  signals.start()
  tuneForTraffic()
  await stop
  manager.stopping()
  const isClean = await gateway.shutDown()
  manager.close()
  log.info({ isClean }, 'stopped')
  log.flush()
  return isClean ? 0 : 2
}

function logListening(
  { listen, ops, decide, store }: Config,
  { url, opsUrl, decideUrl, redirectUrl }: Gateway,
  log: Log,
): void {
  // The URLs are for this machine: they do not show whether others can connect.
  const address = addressOf(listen.host, portOf(url))
  const opsAddress = addressOf(ops.host, portOf(opsUrl))
  const decideAddress = decide && decideUrl && addressOf(decide.host, portOf(decideUrl))
  const what = { version: readVersion(), store: store.driver, workers: listen.workers }
  const where = { url, address, opsUrl, opsAddress, decideUrl, decideAddress, redirectUrl }
  log.info({ ...what, ...where, pid: process.pid }, 'listening')
}

/** The URLs of a gateway always contain the port, even the default one. */
function portOf(url: string): string {
  return url.slice(url.lastIndexOf(':') + 1)
}

function withDemoUpstream(input: ConfigInput, url: string): ConfigInput {
  return { ...input, settings: [...(input.settings ?? []), `upstreams.demo.targets=[{url: "${url}"}]`] }
}

/** Warns about secret files that other users can read or replace, as `check` does. */
function warnOfInsecureFileModes({ snapshot }: LoadedConfig, log: Log): void {
  const folder = dirname(snapshot.file)
  for (const { path, ...texts } of findInsecureFileModes(snapshot.tree, (file) => resolve(folder, file))) {
    log.warn({ option: formatPath(path) }, problemText(texts))
  }
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
async function printWelcome({ terminal, gateway, log, given, input }: WelcomeOptions): Promise<void> {
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

/** About an account that there is, or about a new one, to try the gateway with. */
async function welcomeLines(operator: Operator, url: string, given: ConfigInput): Promise<readonly string[]> {
  const { accounts, keys, store, config } = operator
  const [any] = await accounts.list({ after: undefined, limit: 1 })
  const account = any && ((await store.findAccountByEmail(firstEmail)) ?? any)
  if (!account) {
    const names = { firstName: '', lastName: '' }
    const admin = { email: firstEmail, ...names, role: adminRole, isVerified: true }
    return linesToPaste(operator, url, await accounts.create(admin))
  }
  const email = shellWord(account.email)
  const isShown = keys.unseal(account, 'secretKey') !== undefined
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

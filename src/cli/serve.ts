import { renameSync, rmSync, writeFileSync } from 'node:fs'
import type { CreatedAccount } from '../accounts/accounts.ts'
import { type ConfigInput, loadConfig } from '../config/load.ts'
import { openEcho } from '../demo/echo.ts'
import { OperatorError, reasonOf } from '../errors.ts'
import { type Gateway, openGateway } from '../gateway.ts'
import { createLog, type Log } from '../log.ts'
import type { Command } from './command.ts'
import { withOperator } from './operator.ts'
import { print } from './print.ts'
import { welcome } from './welcome.ts'

export const serveCommand: Command = {
  name: 'serve',
  operands: [],
  summary: 'Runs the gateway until SIGTERM or SIGINT; a second one stops it at once.',
  options: {
    demo: {
      type: 'boolean',
      help: 'Also runs a small echo backend as the upstream "demo", and makes a first account where there is none.',
    },
    'ready-file': {
      type: 'string',
      value: 'PATH',
      help: 'Gets {"url","opsUrl","pid"} as soon as requests are taken.',
    },
  },
  run: async (invocation) => {
    const isDemo = invocation.flag('demo')
    const echo = isDemo ? await openEcho() : undefined
    const input = echo ? withDemoUpstream(invocation.config, echo.url) : invocation.config
    const config = loadConfig(input)
    const log = createLog(config.log)
    watchForFaults(log)
    const gateway = await openGateway({ config, log })
    log.info({ url: gateway.url, opsUrl: gateway.opsUrl, pid: process.pid }, 'listening')
    if (isDemo) print(welcome(gateway, await createFirstAccount(input)))
    const readyFile = invocation.text('ready-file')
    if (readyFile !== undefined) writeReadyFile(readyFile, gateway)
    await stopSignal(log)
    const isClean = await gateway.shutDown()
    echo?.close()
    if (readyFile !== undefined) rmSync(readyFile, { force: true })
    log.info({ isClean }, 'stopped')
    log.flush()
    return isClean ? 0 : 2
  },
}

function withDemoUpstream(input: ConfigInput, url: string): ConfigInput {
  return { ...input, settings: [...(input.settings ?? []), `upstreams.demo.targets=[{url: "${url}"}]`] }
}

/** The first account of an empty store, to try the gateway with; undefined where there is one already. */
function createFirstAccount(input: ConfigInput): Promise<CreatedAccount | undefined> {
  return withOperator(input, async ({ accounts }) => {
    const [known] = await accounts.list({ after: undefined, limit: 1 })
    if (known) return undefined
    return accounts.create({
      email: 'admin@localhost',
      firstName: '',
      lastName: '',
      role: 'Admin',
      isVerified: true,
    })
  })
}

/** Written whole before it appears under its name: whoever waits for it never reads half of it. */
function writeReadyFile(path: string, { url, opsUrl }: Gateway): void {
  try {
    writeFileSync(`${path}.tmp`, `${JSON.stringify({ url, opsUrl, pid: process.pid })}\n`)
    renameSync(`${path}.tmp`, path)
  } catch (cause) {
    throw new OperatorError(`cannot write the ready file ${path}: ${reasonOf(cause)}`, { cause })
  }
}

/**
 * A promise that was forgotten, of a library say, must not take the traffic down; after an exception out of
 * nowhere nothing can be relied on.
 */
function watchForFaults(log: Log): void {
  process.on('unhandledRejection', (err) => log.error({ err }, 'a rejection that nobody handled'))
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'a fault of the gateway: it ends')
    log.flush()
    process.exit(1)
  })
}

/** Resolves at the first signal to stop; the second ends the process. */
function stopSignal(log: Log): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false
    function onSignal(signal: NodeJS.Signals): void {
      log.info({ signal }, isStopping ? 'stopping at once' : 'stopping')
      if (isStopping) {
        log.flush()
        process.exit(2)
      }
      isStopping = true
      resolve()
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}

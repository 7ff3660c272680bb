import { dirname, resolve } from 'node:path'
import type { Config } from '#config/config.ts'
import { type ConfigInput, environmentOf, type LoadedConfig, loadConfig } from '#config/load.ts'
import { demoConfig } from '#config/new-config.ts'
import { formatPath, problemText } from '#config/problem.ts'
import { findInsecureFileModes } from '#config/secrets.ts'
import { addressOf } from '#gateway/server/listen.ts'
import { createLog, type Log, logUncaughtErrors } from '#platform/log/log.ts'
import { readVersion } from '#platform/package.ts'
import { type Gateway, logCertificateWarning, openGateway } from '#runtime/gateway.ts'
import { tuneForTraffic } from '#runtime/v8.ts'
import { type Command, UsageError } from './command.ts'
import { openEchoServer, printWelcome, withDemoUpstream } from './demo.ts'
import { createReadyFile, type ReadyFile } from './ready-file.ts'
import { openServiceManager, readServiceManager } from './service-manager.ts'
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
  tuneForTraffic(gateway.requestsInFlight)
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

/** Warns about secret files that other users can read or replace, as `check` does. */
function warnOfInsecureFileModes({ snapshot }: LoadedConfig, log: Log): void {
  const folder = dirname(snapshot.file)
  for (const { path, ...texts } of findInsecureFileModes(snapshot.tree, (file) => resolve(folder, file))) {
    log.warn({ option: formatPath(path) }, problemText(texts))
  }
}

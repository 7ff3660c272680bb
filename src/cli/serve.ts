import { dirname, resolve } from 'node:path'
import { logCertificateWarning } from '../assembly/reload.ts'
import { demoConfig } from '../config/demo.ts'
import { type ConfigInput, type LoadedConfig, loadConfig } from '../config/load.ts'
import { formatPath } from '../config/problem.ts'
import { findInsecureFileModes } from '../config/warnings/file-modes.ts'
import { openEchoServer } from '../demo/echo-server.ts'
import { type Gateway, openGateway } from '../gateway.ts'
import { addressOf } from '../http/listen.ts'
import { createLog, type Log, logUncaughtErrors } from '../log/log.ts'
import { tuneForTraffic } from '../platform/v8/tune-for-traffic.ts'
import { type Command, UsageError } from './command.ts'
import { printWelcome } from './print-welcome.ts'
import { openReadyFile, type ReadyFile } from './ready-file.ts'

export const serveCommand: Command = {
  name: 'serve',
  operands: [],
  summary: 'Runs the gateway until SIGTERM or SIGINT; a second signal forces an immediate stop.',
  examples: ['gatehouse serve --config my-gateway.yaml', 'gatehouse serve --demo'],
  options: {
    demo: {
      type: 'boolean',
      help: 'Also runs a small echo backend as the upstream "demo", and creates a first account if there is none.',
    },
    'ready-file': {
      type: 'string',
      value: 'PATH',
      help: 'File that {"url","opsUrl","pid"} (and "decideUrl") is written to as soon as requests are accepted.',
    },
  },
  run: async (invocation) => {
    const path = invocation.text('ready-file')
    if (path === '') throw new UsageError('--ready-file must be a path')
    const readyFile = path === undefined ? undefined : openReadyFile(path)
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
  const loaded = loadConfig(input)
  const { config } = loaded
  const log = createLog(config.log)
  logUncaughtErrors(log)
  const stop = stopSignal(log)
  let reload: Gateway['reload'] | undefined
  // Set early: without a listener the signal would end the process.
  process.on('SIGHUP', () => void reload?.())
  logCertificateWarning(config, log)
  const gateway = await openGateway({ loaded, rereadConfig: () => loadConfig(input), log })
  warnOfInsecureFileModes(loaded, log)
  reload = gateway.reload
  const { url, opsUrl, decideUrl } = gateway
  // The URLs are for this machine: they do not show whether others can connect.
  const address = addressOf(config.listen.host, portOf(url))
  const opsAddress = addressOf(config.ops.host, portOf(opsUrl))
  const { decide } = config
  const decideAddress = decide && decideUrl && addressOf(decide.host, portOf(decideUrl))
  log.info({ url, address, opsUrl, opsAddress, decideUrl, decideAddress, pid: process.pid }, 'listening')
  try {
    readyFile?.write(gateway)
    await onReady?.(gateway, log)
  } catch (error) {
    await gateway.shutDown()
    throw error
  }
  tuneForTraffic()
  await stop
  const isClean = await gateway.shutDown()
  log.info({ isClean }, 'stopped')
  log.flush()
  return isClean ? 0 : 2
}

/** The URLs of a gateway always contain the port, even the default one. */
function portOf(url: string): string {
  return url.slice(url.lastIndexOf(':') + 1)
}

function withDemoUpstream(input: ConfigInput, url: string): ConfigInput {
  return { ...input, settings: [...(input.settings ?? []), `upstreams.demo.targets=[{url: "${url}"}]`] }
}

/** npm repeats a signal that the terminal, or the supervisor, has sent to the whole process group: both count as one. */
const duplicateSignalMs = 100

/** Resolves at the first signal to stop; the second ends the process. */
function stopSignal(log: Log): Promise<void> {
  return new Promise((resolve) => {
    let stoppingSince: number | undefined
    function onSignal(signal: NodeJS.Signals): void {
      const now = performance.now()
      if (stoppingSince !== undefined && now - stoppingSince < duplicateSignalMs) return
      log.info({ signal }, stoppingSince === undefined ? 'stopping' : 'stopping immediately')
      // The log is flushed at the exit.
      if (stoppingSince !== undefined) process.exit(2)
      stoppingSince = now
      resolve()
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}

/** Warns about secret files that other users can read or replace, as `check` does. */
function warnOfInsecureFileModes({ snapshot }: LoadedConfig, log: Log): void {
  const folder = dirname(snapshot.file)
  for (const { path, message } of findInsecureFileModes(snapshot.tree, (file) => resolve(folder, file))) {
    log.warn({ option: formatPath(path) }, message)
  }
}

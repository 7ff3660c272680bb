#!/usr/bin/env node
// Without a listener Node would open its debugger, by which whoever reaches 127.0.0.1 runs code in this process.
process.on('SIGUSR1', () => {})

// First, since loading the rest takes a while, in which a signal would end the process with a failure: a reload has
// nothing to do yet, and a stop nothing to close. `serve` takes the signals over (cli/signals.ts).
if (process.argv[2] === 'serve') {
  process.on('SIGHUP', () => {})
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0))
}

// Nothing is imported before this: an older Node would fail at the first import that it does not know.
const minimumVersion = [24, 18] as const
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < minimumVersion[0] || (major === minimumVersion[0] && minor < minimumVersion[1])) {
  console.error(
    `gatehouse: requires Node ${minimumVersion.join('.')} or newer; ${process.execPath} is ${process.version}`,
  )
  process.exit(1)
}

// V8 optimises nothing until the gateway is ready (startOptimizing in runtime/v8.ts). Set before any file is loaded, as
// loading alone makes V8 optimise. The other commands end soon, or have much to do at once.
if (process.argv[2] === 'serve') {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  for (const flag of ['--no-opt', '--no-maglev']) setFlagsFromString(flag)
}

const { cacheCompiledCode } = await import('#platform/package.ts')
cacheCompiledCode()

const [{ main }, { createOutput }] = await Promise.all([import('#cli/main.ts'), import('#cli/output.ts')])

process.exitCode = await main(process.argv.slice(2), {
  out: createOutput(process.stdout),
  err: createOutput(process.stderr),
})

export {}

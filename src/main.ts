#!/usr/bin/env node
// Nothing is imported before this: an older Node would fail at the first import that it does not know.
const needed = [24, 18] as const
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  console.error(
    `gatehouse: needs Node ${needed.join('.')} or newer: ${process.execPath} is ${process.version}`,
  )
  process.exit(1)
}

const { keepCompiled } = await import('./compile-cache.ts')

keepCompiled()

const { main } = await import('./cli/main.ts')

// The reader of the output may stop early: `gatehouse config show | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})
process.exitCode = await main(process.argv.slice(2), { out: process.stdout, err: process.stderr })

export {}

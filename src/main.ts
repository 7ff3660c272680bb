#!/usr/bin/env node
import { keepCompiled } from './compile-cache.ts'

keepCompiled()

const { main } = await import('./cli/main.ts')

// Whoever reads the output may have seen enough of it: `gatehouse config show | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})
process.exitCode = await main(process.argv.slice(2), { out: process.stdout, err: process.stderr })

#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Before anything else is loaded: what Node makes of the sources is kept beside the packages for the next
// start. Where that folder cannot be written, a start takes a little longer.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/gatehouse', import.meta.url)))

const { main } = await import('./cli/main.ts')

// Whoever reads the output may have seen enough of it: `gatehouse config show | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})
process.exitCode = await main(process.argv.slice(2), { out: process.stdout, err: process.stderr })

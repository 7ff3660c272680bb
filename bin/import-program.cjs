'use strict'
const { existsSync } = require('node:fs')
const { join } = require('node:path')

if (existsSync(join(__dirname, '../dist/main.js'))) {
  import('../dist/main.js')
} else {
  console.error('gatehouse: this checkout is not built\n  npm run build, or: npm run -s gatehouse -- COMMAND')
  process.exit(1)
}

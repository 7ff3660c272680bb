import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const { isNewEnough, refusal } = require('./needed-node.cjs')
if (!isNewEnough(process.versions.node)) throw new Error(`@gatehouse-proxy/gateway ${refusal}`)

// Not imported: that would be linked before the check, and fail at the first name that an older Node does not have.
export const { gatehouse } = require('../dist/library/fastify.js')
export default gatehouse

import { resolve } from 'node:path'
import standalone from 'ajv/dist/standalone/index.js'
import type { Plugin } from 'rolldown'
import { createSchemaAjv } from '../src/config/compile-schema.ts'
import { configSchema } from '../src/config/schema/schema.ts'

const replaced = resolve('src/config/compile-schema.ts')

/** Puts the compiled check of the config's schema in the place of the module that compiles it: one eighth of a start. */
export const compiledSchema: Plugin = {
  name: 'compiled-schema',
  load(id) {
    if (id !== replaced) return undefined
    const ajv = createSchemaAjv(true)
    const code = standalone.default(ajv, ajv.compile(configSchema))
    // The code refers to the schema, which is in the bundle already: a copy would take half a MiB of memory.
    const copy = `const schema0 = ${JSON.stringify(configSchema)};`
    if (!code.includes(copy)) throw new Error('the compiled check has no copy of the schema')
    return [
      "import { configSchema as schema0 } from './schema/schema.ts'",
      "import { isDurationWithin, isSizeWithin } from './units.ts'",
      code.replace(copy, '').replace('export default', 'export const compileSchema = () =>'),
    ].join('\n')
  },
}

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
    return [
      "import { isDurationWithin, isSizeWithin } from './units.ts'",
      code.replace('export default', 'export const compileSchema = () =>'),
    ].join('\n')
  },
}

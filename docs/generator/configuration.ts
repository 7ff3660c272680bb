import type { SchemaNode } from '#config/schema/node.ts'
import { configSchema } from '#config/schema/schema.ts'

/** The reference of every option, generated from the schema that validates them. */
export function configurationPage(): string {
  return [
    '# Configuration',
    '',
    'The config is one YAML file and is validated strictly: an unknown option, a wrong type or a value out of range',
    'is an error with its line, and all errors are reported at once (`gatehouse check`). The command line (`--set`)',
    'overrides the environment, the environment overrides the file, and the file overrides the defaults.',
    '[gateway.example.yaml](../config/gateway.example.yaml) shows every option in context. `gatehouse config schema`',
    'prints a JSON Schema for editors; `gatehouse config show` prints the effective values and their sources.',
    '',
    '- Durations: `250ms` `30s` `10m` `24h` `30d`. Sizes: `512B` `16KiB` `10MiB` `1GiB`.',
    '- A secret is `{ file: PATH }`, `{ env: NAME }` or `{ credential: NAME }`, a file in `$CREDENTIALS_DIRECTORY`, never the text itself.',
    '- Relative paths are relative to the config file.',
    '- Environment: `GATEHOUSE__LISTEN__PORT=80` sets `listen.port`; case and underscores within a name are',
    '  ignored, numbers are indexes of lists, values are YAML. Variables have no order: one that sets a whole section',
    `  beside one that sets an option in it is an error. Nothing is replaced in values: \`\${NAME}\` there is an error that`,
    '  names the variable to set instead ([why](decisions/0049-no-variables-in-values.md)); `$NAME` is text.',
    '',
    '| option | type | default | meaning |',
    '|---|---|---|---|',
    ...rows(configSchema, ''),
    '',
  ].join('\n')
}

function rows(node: SchemaNode, path: string): string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
    const childPath = path === '' ? name : `${path}.${name}`
    return [row(childPath, child, node.required?.includes(name) === true), ...rowsBelow(child, childPath)]
  })
}

function rowsBelow(node: SchemaNode, path: string): string[] {
  if (node.secret) return []
  if (node.patternProperties)
    return Object.values(node.patternProperties).flatMap((child) => rows(child, `${path}.NAME`))
  if (node.items) return rows(node.items, node.properties ? path : `${path}[]`)
  return rows(node, path)
}

function row(path: string, node: SchemaNode, isRequired: boolean): string {
  const fallback =
    node.default === undefined || isEmptyMap(node.default) ? '' : `\`${JSON.stringify(node.default)}\``
  return `| \`${path}\` | ${kindOf(node)} | ${isRequired ? 'required' : fallback} | ${node.description ?? ''} |`
}

function kindOf(node: SchemaNode): string {
  if (node.secret) return '`{ file }` or `{ env }`'
  if (node.duration) return `duration, ${node.duration.min} to ${node.duration.max}`
  if (node.size)
    return `size, ${node.size.min} to ${node.size.max}${node.size.alternative ? `, or \`${node.size.alternative}\`` : ''}`
  if (node.enum) return node.enum.map((value) => `\`${String(value)}\``).join(', ')
  if (node.const !== undefined) return `\`${JSON.stringify(node.const)}\``
  if (node.anyOf) return node.anyOf.map(kindOf).join(' or ')
  if (typeof node.type === 'object') return 'map, or list of maps'
  if (node.minimum !== undefined) return `number, ${node.minimum} to ${node.maximum}`
  return {
    object: 'map',
    array: 'list',
    boolean: '`true`, `false`',
    string: 'text',
    null: '`null`',
    integer: 'number',
    number: 'number',
  }[node.type ?? 'string']
}

function isEmptyMap(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
  )
}

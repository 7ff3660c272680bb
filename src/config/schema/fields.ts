/**
 * The kinds of field that an option can be, as JSON Schema that carries its type. `duration`, `size` and `secret` are
 * custom keywords in addition to those of JSON Schema: the first two bound a text of that form, the third marks options
 * that are never written inline.
 */

/** The parts of JSON Schema that our schema uses. */
export interface SchemaNode {
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'null'
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly minLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly items?: SchemaNode
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly additionalProperties?: boolean
  readonly anyOf?: readonly SchemaNode[]
  readonly secret?: boolean
  readonly duration?: { readonly min: string; readonly max: string }
  readonly size?: { readonly min: string; readonly max: string; readonly alternative?: string }
}

/** A schema whose values have a type; the member that carries the type never has a value. */
export interface Field<Value> extends SchemaNode {
  readonly $value?: Value
}

/** A field that may be left out, and then has no value. */
export interface OptionalField<Value> extends Field<Value> {
  readonly optional: true
}

/** The type of a field's values, with every default filled in. */
export type ValueOf<Some> = Some extends Field<infer Value> ? Value : never

type Fields = Readonly<Record<string, Field<unknown>>>

type OptionalNames<Members> = {
  [Name in keyof Members]: Members[Name] extends { readonly optional: true } ? Name : never
}[keyof Members]

/** The type of a map of fields. */
export type Values<Members> = {
  readonly [Name in Exclude<keyof Members, OptionalNames<Members>>]: ValueOf<Members[Name]>
} & { readonly [Name in OptionalNames<Members>]?: ValueOf<Members[Name]> }

interface Doc {
  readonly description: string
  readonly default?: unknown
}

interface Range {
  readonly min: string
  readonly max: string
}

/** `{ file: … }` or `{ env: … }`: exactly one of the two. */
export interface SecretReference {
  readonly file?: string
  readonly env?: string
}

export const namePattern = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'

export const headerNamePattern = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$"

export const optional = <Value>(field: Field<Value>): OptionalField<Value> => ({ ...field, optional: true })

export const text = (doc: Doc & { readonly pattern?: string }): Field<string> => ({
  type: 'string',
  ...(doc.pattern === undefined && { minLength: 1 }),
  ...doc,
})

export const integer = (
  doc: Doc & { readonly minimum: number; readonly maximum: number },
): Field<number> => ({
  type: 'integer',
  ...doc,
})

export const headerName = (doc: { readonly description: string; readonly default?: string }) =>
  text({ pattern: headerNamePattern, ...doc })

/** A share of a whole. */
export const ratio = (doc: Doc): Field<number> => ({ type: 'number', minimum: 0, maximum: 1, ...doc })

export const port = (doc: Doc): Field<number> => integer({ minimum: 0, maximum: 65_535, ...doc })

export const flag = (defaultValue: boolean, description: string): Field<boolean> => ({
  type: 'boolean',
  default: defaultValue,
  description,
})

export const choice = <const Value extends string | number>(
  values: readonly Value[],
  doc: Doc,
): Field<Value> => ({
  enum: values,
  ...doc,
})

/** A duration such as `30s`, from `min` to `max`. */
export const duration = ({ min, max, ...doc }: Doc & Range): Field<string> => ({
  type: 'string',
  ...doc,
  duration: { min, max },
})

/** A size such as `16KiB`, from `min` to `max`, or the word `alternative`. */
export const size = ({
  min,
  max,
  alternative,
  ...doc
}: Doc & Range & { readonly alternative?: string }): Field<string> => ({
  type: 'string',
  ...doc,
  size: { min, max, ...(alternative !== undefined && { alternative }) },
})

export const list = <Value>(
  items: Field<Value>,
  doc: Doc & Pick<SchemaNode, 'minItems' | 'maxItems' | 'uniqueItems'>,
): Field<readonly Value[]> => ({ type: 'array', items, ...doc })

/** A map of things by name. @param pattern of the names */
export const named = <Value>(
  items: Field<Value>,
  doc: Doc & Pick<SchemaNode, 'maxProperties'>,
  pattern: string = namePattern,
): Field<Readonly<Record<string, Value>>> => ({
  type: 'object',
  patternProperties: { [pattern]: items },
  additionalProperties: false,
  ...doc,
})

export const either = <One, Other>(one: Field<One>, other: Field<Other>, doc: Doc): Field<One | Other> => ({
  anyOf: [one, other],
  ...doc,
})

export const exactly = <const Value>(value: Value): Field<Value> => ({ const: value })

export const trueOrFalse: Field<boolean> = { type: 'boolean' }

export const nothing: Field<null> = { type: 'null' }

/** A map that describes one thing, and exists only if it is written. */
export const item = <Members extends Fields>(
  description: string,
  properties: Members,
): Field<Values<Members>> => ({
  type: 'object',
  description,
  properties,
  required: Object.entries(properties).flatMap(([name, field]) => (isOptional(field) ? [] : [name])),
  additionalProperties: false,
})

/** A map that may be left out: its own fields then take their defaults. */
export const section = <Members extends Fields>(
  description: string,
  properties: Members,
): Field<Values<Members>> => ({
  ...item(description, properties),
  default: {},
})

export const secret = (doc: Doc): Field<SecretReference> => ({
  ...item(doc.description, {
    file: optional(text({ description: 'Path of a file that contains it.' })),
    env: optional(text({ description: 'Name of an environment variable that contains it.' })),
  }),
  ...doc,
  minProperties: 1,
  maxProperties: 1,
  secret: true,
})

/** A field with a default need not be written either. */
function isOptional(field: SchemaNode): boolean {
  return 'optional' in field || field.default !== undefined
}

import type { Bounds, DurationBounds } from '../units.ts'

// What an option is: JSON Schema with the type of its values, and the conversion to what the program uses in their
// place. `duration`, `size` and `secret` are keywords in addition to those of JSON Schema: the first two bound a text
// of that form, the third marks options that are never written inline.

/** What the program uses instead of a value; absent = the value itself, with the members of a map or list converted. */
const conversion = Symbol('conversion')
/** The name that the program uses, if it differs. */
const property = Symbol('property')

/** A field that the program knows by another name than the file. */
export interface Renamed<Name extends string> {
  readonly [property]: Name
}

type NodeType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'null'

/** The parts of JSON Schema that our schema uses. */
export interface SchemaNode {
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly type?: NodeType | readonly NodeType[]
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
  /** Whether anybody may read the content of a `secret`. */
  readonly isPublic?: boolean
  readonly duration?: DurationBounds
  readonly size?: Bounds
  readonly [conversion]?: (value: never, lookup: SecretLookup) => unknown
  readonly [property]?: string
}

/** `{ file: … }`, `{ env: … }` or `{ credential: … }`: exactly one of them. */
export interface SecretReference {
  readonly file?: string
  readonly env?: string
  readonly credential?: string
  /** For a file that is neither text nor a secret; the config never has it. */
  readonly encoding?: 'base64'
}

/** The text that a reference points to, without the line break at its end, or why it cannot be read. */
export type SecretResult =
  | { readonly value: string }
  | { readonly problem: string; readonly isMissing: boolean }

/** How a secret and a relative path are looked up. */
export interface SecretLookup {
  secret(reference: SecretReference): string
  resolvePath(path: string): string
}

/**
 * A schema with the types of its values, and of what the program uses; the members with the types never have a value.
 */
export interface Field<Value, Resolved = Value> extends SchemaNode {
  readonly $value?: Value
  readonly $resolved?: Resolved
}

export type Fields = Readonly<Record<string, Field<unknown, unknown>>>

/** The type of a field's values, with every default filled in. */
export type ValueOf<Some> = Some extends Field<infer Value, unknown> ? Value : never

/** The type of what the program uses: times in milliseconds, sizes in bytes, secrets read. */
export type ResolvedOf<Some> = Some extends Field<unknown, infer Resolved> ? Resolved : never

type OptionalNames<Members> = {
  [Name in keyof Members]: Members[Name] extends { readonly optional: true } ? Name : never
}[keyof Members]

/** The type of a map of fields. */
export type Values<Members> = {
  readonly [Name in Exclude<keyof Members, OptionalNames<Members>>]: ValueOf<Members[Name]>
} & { readonly [Name in OptionalNames<Members>]?: ValueOf<Members[Name]> }

/** The type of what the program uses of a map of fields; a field that was left out is undefined. */
export type ResolvedValues<Members> = {
  readonly [Name in keyof Members & string as PropertyOf<Name, Members[Name]>]: Members[Name] extends {
    readonly optional: true
  }
    ? ResolvedOf<Members[Name]> | undefined
    : ResolvedOf<Members[Name]>
}

type PropertyOf<Name extends string, Some> = Some extends { readonly [property]: infer Own extends string }
  ? Own
  : Some extends { readonly duration: object }
    ? `${Name}Ms`
    : Name

function propertyOf(name: string, node: SchemaNode): string {
  return node[property] ?? (node.duration ? `${name}Ms` : name)
}

/** A field that may be left out, and then has no value. */
export const optional = <Some extends Field<unknown, unknown>>(
  field: Some,
): Some & { readonly optional: true } => ({ ...field, optional: true })

/** A field that the program knows by another name; default: that of the option, for durations with `Ms` at its end. */
export const renamed = <const Name extends string, Some extends Field<unknown, unknown>>(
  name: Name,
  field: Some,
): Some & Renamed<Name> => ({ ...field, [property]: name })

/** A field with a conversion of its values, as written, to what the program uses. */
export const convert = <Value, Resolved>(
  field: Field<Value, unknown>,
  toResolved: (value: Value, lookup: SecretLookup) => Resolved,
): Field<Value, Resolved> => {
  // The cast is sound: the member with the type never has a value.
  const node = field as Field<Value, never>
  return { ...node, [conversion]: toResolved }
}

/** Like `convert`, for values whose members have been resolved. */
export const convertResolved = <Value, Members, Resolved>(
  field: Field<Value, Members>,
  toResolved: (members: Members, lookup: SecretLookup) => Resolved,
): Field<Value, Resolved> =>
  convert(field, (value, lookup) => toResolved(resolveField(field, value, lookup), lookup))

/** What the program uses for a value that the schema has accepted. */
export function resolveField<Value, Resolved>(
  field: Field<Value, Resolved>,
  value: Value,
  lookup: SecretLookup,
): Resolved {
  // The cast is sound: `convert` and the kinds of field give a schema the type of its conversion.
  return resolveNode(field, value, lookup) as Resolved
}

function resolveNode(node: SchemaNode, value: unknown, lookup: SecretLookup): unknown {
  if (value === undefined) return undefined
  // The casts are sound: the schema has accepted the value.
  if (node[conversion]) return node[conversion](value as never, lookup)
  const { items, properties, patternProperties = {} } = node
  if (items) return (value as readonly unknown[]).map((one) => resolveNode(items, one, lookup))
  if (node.type !== 'object') return value
  const members = value as Readonly<Record<string, unknown>>
  if (properties) {
    const resolved = Object.entries(properties).map(([name, member]) => [
      propertyOf(name, member),
      resolveNode(member, members[name], lookup),
    ])
    return Object.fromEntries(resolved)
  }
  const [member = {}] = Object.values(patternProperties)
  return Object.fromEntries(
    Object.entries(members).map(([name, one]) => [name, resolveNode(member, one, lookup)]),
  )
}

import { keysOf } from './json.ts'

/** JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>

export const text = { type: 'string' } as const
export const time = { type: 'string', format: 'date-time' } as const
export const flag = { type: 'boolean' } as const
export const count = { type: 'integer', minimum: 0 } as const
export const texts = { type: 'array', items: text } as const
export const textOrNull = { type: ['string', 'null'] } as const
export const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const

type Members = Readonly<Record<string, JsonSchema>>

/** The schema of an object with exactly these members, of which the optional ones may be missing. */
export function objectSchema<
  const Required extends Members,
  const Optional extends Members = Readonly<Record<never, never>>,
>(members: Required, optional?: Optional) {
  // The cast is sound: all optional members are there, if there are any.
  const properties = { ...members, ...optional } as Required & Optional
  const required = keysOf<keyof Required & string>(members)
  return { type: 'object', properties, required, additionalProperties: false } as const
}

/** The same schema for a value that may be null. */
export function orNull<const Schema extends JsonSchema>(schema: Schema) {
  return { ...schema, type: ['object', 'null'] } as const
}

/** The values that a schema accepts, once its defaults are filled in. */
export type Value<Schema> = Schema extends { readonly enum: readonly (infer Each)[] }
  ? Each
  : Schema extends { readonly properties: infer All; readonly required: readonly (infer Required)[] }
    ? ObjectValue<All, Required | WithDefault<All>> | OrNull<Schema>
    : Schema extends { readonly items: infer Item }
      ? readonly Value<Item>[]
      : Schema extends { readonly type: infer Type }
        ? TypeValue<Type>
        : unknown

type OrNull<Schema> = Schema extends { readonly type: readonly unknown[] } ? null : never

type ObjectValue<All, Present> = { readonly [Name in keyof All as Name & Present]: Value<All[Name]> } & {
  readonly [Name in Exclude<keyof All, Present>]?: Value<All[Name]>
}
type WithDefault<All> = {
  [Name in keyof All]: All[Name] extends { readonly default: unknown } ? Name : never
}[keyof All]

interface Types {
  readonly string: string
  readonly boolean: boolean
  readonly integer: number
  readonly number: number
  readonly null: null
}
type TypeValue<Type> = Type extends readonly (infer Each)[]
  ? TypeValue<Each>
  : Type extends keyof Types
    ? Types[Type]
    : unknown

export const emptyObject = objectSchema({})

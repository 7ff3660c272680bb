import { type Bounds, type DurationBounds, parseDurationMs, parseSizeBytes } from '../units.ts'
import {
  convert,
  type Field,
  type Fields,
  optional,
  type ResolvedValues,
  resolveField,
  type SchemaNode,
  type SecretReference,
  type Values,
} from './node.ts'

// The kinds of field that an option can be.

interface Doc {
  readonly description: string
  readonly default?: unknown
}

export const namePattern = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'

export const headerNamePattern = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$"

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
export const duration = ({
  min,
  max,
  ...doc
}: Doc & DurationBounds): Field<string, number> & { readonly duration: DurationBounds } => ({
  ...convert({ type: 'string', ...doc }, (text: string) => parseDurationMs(text) ?? 0),
  duration: { min, max },
})

/** A size such as `16KiB`, from `min` to `max`, or the word `alternative` for any. */
export const size = ({ min, max, alternative, ...doc }: Doc & Bounds): Field<string, number> => ({
  ...convert({ type: 'string', ...doc }, (text: string) =>
    text === alternative ? Number.POSITIVE_INFINITY : (parseSizeBytes(text) ?? 0),
  ),
  size: { min, max, ...(alternative !== undefined && { alternative }) },
})

export const list = <Value, Resolved>(
  items: Field<Value, Resolved>,
  doc: Doc & Pick<SchemaNode, 'minItems' | 'maxItems' | 'uniqueItems'>,
): Field<readonly Value[], readonly Resolved[]> => ({ type: 'array', items, ...doc })

/** A map that describes one thing, or a list of such maps: a list in any case for the program. */
export const oneOrMore = <Value, Resolved>(
  one: Field<Value, Resolved>,
  doc: Doc & Pick<SchemaNode, 'maxItems'>,
): Field<Value | readonly Value[], readonly Resolved[]> =>
  convert(
    // In one schema rather than a choice of two, as a validator fills in no defaults below a choice.
    { ...one, type: ['object', 'array'], items: one, ...doc },
    (written, lookup) => [written].flat().map((each) => resolveField(one, each as Value, lookup)),
  )

/** A map of things by name. @param pattern of the names */
export const named = <Value, Resolved>(
  items: Field<Value, Resolved>,
  doc: Doc & Pick<SchemaNode, 'minProperties' | 'maxProperties'>,
  pattern: string = namePattern,
): Field<Readonly<Record<string, Value>>, Readonly<Record<string, Resolved>>> => ({
  type: 'object',
  patternProperties: { [pattern]: items },
  additionalProperties: false,
  ...doc,
})

/** One of two kinds; the program uses the value as written, unless it is converted. */
export const either = <One, Other>(
  one: Field<One, unknown>,
  other: Field<Other, unknown>,
  doc: Doc,
): Field<One | Other> => ({
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
): Field<Values<Members>, ResolvedValues<Members>> => ({
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
): Field<Values<Members>, ResolvedValues<Members>> => ({
  ...item(description, properties),
  default: {},
})

/** The maximum number of header fields to set or to remove. */
const headersMax = 64

/** Header fields that are set, and others that are removed. @param value what they are set to */
export const headerChanges = <Value, Resolved>(
  value: Field<Value, Resolved>,
  { description, set, remove }: Readonly<Record<'description' | 'set' | 'remove', string>>,
) =>
  section(description, {
    set: named(value, { default: {}, maxProperties: headersMax, description: set }, headerNamePattern),
    remove: list(headerName({ description: 'The name of a header.' }), {
      default: [],
      maxItems: headersMax,
      description: remove,
    }),
  })

/** A secret, of which the program uses the text. */
export const secret = (doc: Doc): Field<SecretReference, string> =>
  convert(
    {
      ...item(doc.description, {
        file: optional(text({ description: 'Path of a file that contains it.' })),
        env: optional(text({ description: 'Name of an environment variable that contains it.' })),
        credential: optional(
          text({
            pattern: '^(?!\\.{1,2}$)[A-Za-z0-9_.@:-]{1,255}$',
            description:
              'Name of a file in $CREDENTIALS_DIRECTORY that contains it, as systemd passes credentials.',
          }),
        ),
      }),
      ...doc,
      minProperties: 1,
      maxProperties: 1,
      secret: true,
    },
    (reference, lookup) => lookup.secret(reference),
  )

/** A certificate or public key (PEM), which is looked up as a secret is, but which anybody may read. */
export const publicPem = (doc: Doc): Field<SecretReference, string> => ({ ...secret(doc), isPublic: true })

/** Whom the TLS of a connection trusts. @param whose such as "the server" */
export const tlsTrust = (whose: string) => ({
  verify: flag(true, `Whether ${whose}'s certificate is checked.`),
  ca: optional(publicPem({ description: 'Certificates (PEM) to trust instead of the system ones.' })),
})

/** The options of a listener's address. */
export const address = (defaultPort: number) => ({
  host: text({ default: '127.0.0.1', description: 'Address to listen on, or a host name that has it.' }),
  port: port({ default: defaultPort, description: '0 = any free port.' }),
})

/** The options of a rate. @param bounds of `per` */
export const rate = (
  { min, max }: DurationBounds,
  defaults?: { readonly limit: number; readonly per: string },
) => ({
  limit: integer({
    minimum: 1,
    maximum: 1_000_000_000,
    ...(defaults && { default: defaults.limit }),
    description: 'Burst size: how many at once.',
  }),
  per: duration({
    min,
    max,
    ...(defaults && { default: defaults.per }),
    description: 'Time in which a spent limit refills, at a steady rate.',
  }),
})

/** A field with a default is optional, too. */
function isOptional(field: SchemaNode): boolean {
  return 'optional' in field || field.default !== undefined
}

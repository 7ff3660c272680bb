import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

/** A node of an ESTree, as far as it is read here. */
type Node = Readonly<Record<string, unknown>> & { readonly type: string }

interface Source {
  readonly path: string
  readonly nodes: readonly Node[]
  /** What it imports: from which file, by local name. */
  readonly imported: ReadonlyMap<string, string>
}

/** Where a message is made. */
interface Found {
  readonly path: string
  readonly node: Node
}

/**
 * What sources say to whoever meets an error that they throw: messages of fields and details, with `{}` for what is
 * inserted, each with the files that have it; and codes.
 * @param files matches paths below src/
 */
export function thrownBy(files: RegExp) {
  const paths = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && files.test(path),
  )
  const sources = new Map(paths.map((path) => [path, readSource(path)]))
  const resolve = createResolver(sources)
  const messages = new Map<string, readonly string[]>()
  const unknown: string[] = []
  const codes = new Set<string>()
  for (const source of sources.values()) {
    for (const node of source.nodes) {
      const code = codeOf(node)
      if (code !== undefined) codes.add(code)
      for (const message of messagesOf(node)) {
        const texts = resolve({ path: source.path, node: message })
        if (texts.length === 0) unknown.push(`${source.path}: ${textOf(source.path, message)}`)
        for (const text of texts) messages.set(text, [...(messages.get(text) ?? []), source.path])
      }
    }
  }
  return { messages, unknown, codes }
}

function pathOf(name: string, importer: string): string {
  return name.startsWith('#') ? name.slice(1) : normalize(join(dirname(importer), name))
}

function readSource(path: string): Source {
  const root = parseAst(readFileSync(join('src', path), 'utf8'), { lang: 'ts' }, path) as unknown as Node
  const nodes = [...within(root)]
  const imported = new Map<string, string>()
  for (const node of nodes.filter(({ type }) => type === 'ImportDeclaration')) {
    const from = String(childOf(node, 'source')?.value)
    if (!/^[#.]/.test(from)) continue
    for (const each of childrenOf(node, 'specifiers'))
      imported.set(nameOf(childOf(each, 'local')), pathOf(from, path))
  }
  return { path, nodes, imported }
}

function* within(node: Node): Generator<Node> {
  yield node
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* within(child)
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

function childOf(node: Node | undefined, name: string): Node | undefined {
  const child = node?.[name]
  return isNode(child) ? child : undefined
}

function childrenOf(node: Node | undefined, name: string): readonly Node[] {
  const children = node?.[name]
  return Array.isArray(children) ? children.filter(isNode) : []
}

function isAround(node: Node, inner: Node): boolean {
  return Number(node.start) < Number(inner.start) && Number(inner.end) < Number(node.end)
}

function nameOf(node: Node | undefined): string {
  return typeof node?.name === 'string' ? node.name : ''
}

function textOf(path: string, { start, end }: Node): string {
  return readFileSync(join('src', path), 'utf8').slice(Number(start), Number(end))
}

/** The code of `new GatehouseError(code, …)` and `sharedError(code, …)`. */
function codeOf(node: Node): string | undefined {
  const isError = ['GatehouseError', 'sharedError'].includes(nameOf(childOf(node, 'callee')))
  const isSuper = childOf(node, 'callee')?.type === 'Super'
  const [code] = childrenOf(node, 'arguments')
  return (isError || isSuper) && typeof code?.value === 'string' ? code.value : undefined
}

function messagesOf(node: Node): readonly Node[] {
  const called = nameOf(childOf(node, 'callee'))
  const given = childrenOf(node, 'arguments')
  if (called === 'invalidField' || called === 'sharedError') return given.slice(1, 2)
  if (called === 'rejectPassword') return given.slice(0, 1)
  if (called === 'GatehouseError')
    return given.slice(1, 2).flatMap((options) => propertiesOf(options, 'detail'))
  const isFieldError = node.type === 'ObjectExpression' && propertiesOf(node, 'field').length > 0
  return isFieldError ? propertiesOf(node, 'message') : []
}

/** The values of an object literal. @param name undefined = all */
function propertiesOf(node: Node, name: string | undefined): readonly Node[] {
  return childrenOf(node, 'properties')
    .filter((property) => {
      const key = childOf(property, 'key')
      return name === undefined || nameOf(key) === name || key?.value === name
    })
    .flatMap((property) => childOf(property, 'value') ?? [])
}

/** Finds what an expression can be, as far as it is made of literals. */
function createResolver(sources: ReadonlyMap<string, Source>) {
  const busy = new Set<Node>()
  const others = new Map<string, Source>()

  /** Names may be imported from any file. */
  function sourceOf(path: string): Source {
    const source = sources.get(path) ?? others.get(path) ?? readSource(path)
    others.set(path, source)
    return source
  }

  /** The expressions that a name stands for, in this file or the one that it is imported from. */
  function declared(path: string, name: string): readonly Found[] {
    const from = sourceOf(path).imported.get(name) ?? path
    const { nodes } = sourceOf(from)
    const found = nodes.flatMap((node) => {
      if (nameOf(childOf(node, 'id')) !== name) return []
      if (node.type === 'VariableDeclarator') return childOf(node, 'init') ?? []
      return node.type === 'FunctionDeclaration' ? node : []
    })
    return found.map((node) => ({ path: from, node }))
  }

  /** What calls in this file pass for a parameter of the function around it. */
  function passed({ path, node: parameter }: Found): readonly Found[] {
    const { nodes } = sourceOf(path)
    return nodes.flatMap((declaration) => {
      const index = childrenOf(declaration, 'params').findIndex((each) => nameOf(each) === nameOf(parameter))
      const called = nameOf(childOf(declaration, 'id'))
      if (index === -1 || called === '' || !isAround(declaration, parameter)) return []
      return nodes
        .filter((node) => nameOf(childOf(node, 'callee')) === called)
        .flatMap((node) => childrenOf(node, 'arguments').slice(index, index + 1))
        .map((node) => ({ path, node }))
    })
  }

  /** The objects, functions and literals that an expression can be. */
  function valuesOf({ path, node }: Found): readonly Found[] {
    const at = (child: Node | undefined) => (child ? valuesOf({ path, node: child }) : [])
    if (busy.has(node)) return []
    busy.add(node)
    try {
      switch (node.type) {
        case 'TSAsExpression':
        case 'TSSatisfiesExpression':
        case 'ParenthesizedExpression':
        case 'AwaitExpression':
          return at(childOf(node, 'expression') ?? childOf(node, 'argument'))
        case 'ConditionalExpression':
          return [...at(childOf(node, 'consequent')), ...at(childOf(node, 'alternate'))]
        case 'LogicalExpression':
          return [...at(childOf(node, 'left')), ...at(childOf(node, 'right'))]
        case 'Identifier':
          return declared(path, nameOf(node)).flatMap(valuesOf)
        case 'MemberExpression': {
          const property = childOf(node, 'property')
          const named = typeof property?.value === 'string' ? property.value : undefined
          const name = node.computed === true ? named : nameOf(property)
          return at(childOf(node, 'object')).flatMap((object) =>
            propertiesOf(object.node, name).flatMap((value) => valuesOf({ path: object.path, node: value })),
          )
        }
        case 'CallExpression':
          return at(childOf(node, 'callee')).flatMap(returnedBy)
        default:
          return [{ path, node }]
      }
    } finally {
      busy.delete(node)
    }
  }

  function returnedBy({ path, node }: Found): readonly Found[] {
    const body = childOf(node, 'body')
    if (!body) return []
    if (body.type !== 'BlockStatement') return valuesOf({ path, node: body })
    const returns = [...within(body)].filter(({ type }) => type === 'ReturnStatement')
    return returns.flatMap((each) => {
      const argument = childOf(each, 'argument')
      return argument ? valuesOf({ path, node: argument }) : []
    })
  }

  /** The texts that an expression can be. */
  function textsOf(found: Found): readonly string[] {
    return valuesOf(found).flatMap(({ path, node }) => {
      if (node.type === 'Literal') return typeof node.value === 'string' ? [node.value] : []
      if (node.type !== 'TemplateLiteral') return []
      // The cast is sound: it is how ESTree has the texts between the expressions.
      const between = childrenOf(node, 'quasis').map(
        ({ value }) => (value as { readonly cooked: string }).cooked,
      )
      return childrenOf(node, 'expressions').reduce<readonly string[]>(
        (texts, expression, index) => {
          const inserted = textsOf({ path, node: expression })
          const parts = inserted.length > 0 ? inserted : ['{}']
          return texts.flatMap((text) => parts.map((part) => `${text}${part}${between[index + 1]}`))
        },
        between.slice(0, 1),
      )
    })
  }

  return (found: Found): readonly string[] => {
    const texts = textsOf(found)
    return texts.length > 0 ? texts : passed(found).flatMap(textsOf)
  }
}

import { stripTypeScriptTypes } from 'node:module'
import { parse, type Token, tokTypes } from 'acorn'

/** What of a source can be run, by its offsets: those of the file, as types are stripped in place. */
export interface CodePlaces {
  readonly length: number
  /** The first token of each line of code. Lines of comments, types, brackets or `else` alone are none. */
  readonly lines: readonly number[]
  /**
   * Each way on of an `if`, a conditional or logical expression, a `switch`, a loop and a `catch`. Not the absent `else`:
   * V8 does not tell whether it was taken.
   */
  readonly branches: readonly number[]
  /** The body of each function. */
  readonly functions: readonly number[]
}

/** A node of ESTree, whatever its type. */
type SyntaxNode = { readonly type: string; readonly start: number } & Readonly<Record<string, unknown>>

/** The members of a node that are run in some cases only. */
const branchMembers: Readonly<Record<string, readonly string[]>> = {
  IfStatement: ['consequent', 'alternate'],
  ConditionalExpression: ['consequent', 'alternate'],
  LogicalExpression: ['right'],
  SwitchStatement: ['cases'],
  ForStatement: ['body'],
  ForInStatement: ['body'],
  ForOfStatement: ['body'],
  WhileStatement: ['body'],
  TryStatement: ['handler'],
}

const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

/** @param source TypeScript whose types can be stripped */
export function codePlacesOf(source: string): CodePlaces {
  const code = stripTypeScriptTypes(source)
  const lines = new Map<number, number>()
  const branches: number[] = []
  const functions: number[] = []
  const program = parse(code, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    allowHashBang: true,
    locations: true,
    onToken: (token) => {
      const line = token.loc?.start.line ?? 0
      if (saysSomething(token) && !lines.has(line)) lines.set(line, token.start)
    },
  })

  function visit(node: SyntaxNode): void {
    if (functionTypes.has(node.type)) functions.push(...nodesIn(node.body).map(({ start }) => start))
    for (const member of branchMembers[node.type] ?? []) branches.push(...nodesIn(node[member]).map(entryOf))
    for (const member of Object.values(node)) for (const child of nodesIn(member)) visit(child)
  }

  // The cast is sound: nodes are plain objects, whose members are read as unknown.
  visit(program as unknown as SyntaxNode)
  return { length: code.length, lines: [...lines.values()], branches, functions }
}

/** V8 counts a function by itself; what comes before it is of the branch that it stands in. */
function entryOf({ type, start }: SyntaxNode): number {
  return functionTypes.has(type) ? start - 1 : start
}

function nodesIn(member: unknown): readonly SyntaxNode[] {
  return (Array.isArray(member) ? member : [member]).filter(isNode)
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

/** A word or a literal; the labels of other tokens are what they look like. */
function saysSomething({ type }: Token): boolean {
  return /[a-z]/.test(type.label) && type !== tokTypes._else && type !== tokTypes.eof
}

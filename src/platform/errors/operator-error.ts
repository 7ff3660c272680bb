/** Something that an operator must fix before a command can continue: the problem, and a hint how to fix it. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
  readonly hint: string | undefined

  constructor(message: string, { hint, cause }: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, { cause })
    this.hint = hint
  }
}

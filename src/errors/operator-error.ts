/** Something that an operator must fix before a command can go on: what is wrong, and the way out. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
  readonly hint: string | undefined

  constructor(message: string, { hint, cause }: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, { cause })
    this.hint = hint
  }
}

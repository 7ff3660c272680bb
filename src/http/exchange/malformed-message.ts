/** The message is not HTTP/1.1, or one that two parsers could understand differently. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage'
  /** Which part it is: the name of a field, or `request-line`, `field-line`, `chunk`, `trailer`. */
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/** The body arrives more slowly than clients have to send it. */
export class BodyTooSlow extends Error {
  override readonly name = 'BodyTooSlow'
}

/** The head is larger than allowed. */
export class HeadTooLarge extends Error {
  override readonly name = 'HeadTooLarge'
}

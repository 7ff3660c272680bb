/** The message is not HTTP/1.1, or one that two readers could understand differently. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage'
  /** Which part it is: the name of a field, or `request-line`, `field-line`, `chunk`, `trailer`. */
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/** The body comes more slowly than clients have to send. */
export class BodyTooSlow extends Error {
  override readonly name = 'BodyTooSlow'
}

/** The head is larger than allowed. */
export class HeadTooLarge extends Error {
  override readonly name = 'HeadTooLarge'
}

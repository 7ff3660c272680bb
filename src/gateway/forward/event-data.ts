const lineFeed = 0x0a
const carriageReturn = 0x0d
const dataField = Buffer.from('data:')

interface DataReader {
  read(bytes: Uint8Array, start: number, end: number): void
  /** The event is over. */
  reset(): void
}

/** Finds the data of each event in an event stream that arrives in parts (WHATWG HTML 9.2.6); keeps none of it. */
export class EventDataScanner {
  readonly #reader: DataReader
  /** How much of `data:` the line has; -1 = it is of another field. */
  #matched = 0
  #isEmptyLine = true
  #endsWithReturn = false

  constructor(reader: DataReader) {
    this.#reader = reader
  }

  read(bytes: Uint8Array, start: number, end: number): void {
    for (let index = start; index < end; index++) {
      const byte = bytes[index] ?? 0
      if (byte === lineFeed || byte === carriageReturn) this.#endLine(byte, bytes, index)
      else {
        this.#isEmptyLine = false
        this.#endsWithReturn = false
        if (this.#matched === dataField.length) {
          const lineEnd = lineEndIn(bytes, index, end)
          this.#reader.read(bytes, index, lineEnd)
          index = lineEnd - 1
        } else if (this.#matched >= 0)
          this.#matched = byte === dataField[this.#matched] ? this.#matched + 1 : -1
      }
    }
  }

  #endLine(byte: number, bytes: Uint8Array, index: number): void {
    const isSecondByte = byte === lineFeed && this.#endsWithReturn
    this.#endsWithReturn = byte === carriageReturn
    if (isSecondByte) return
    if (this.#isEmptyLine) this.#reader.reset()
    // Between lines of data the event has a line feed, which ends a number.
    else if (this.#matched === dataField.length) this.#reader.read(bytes, index, index + 1)
    this.#matched = 0
    this.#isEmptyLine = true
  }
}

function lineEndIn(bytes: Uint8Array, start: number, end: number): number {
  for (let index = start; index < end; index++)
    if (bytes[index] === lineFeed || bytes[index] === carriageReturn) return index
  return end
}

import { hash } from 'node:crypto'
import { emailKey } from '#store/account.ts'

/** The e-mails of a file, and the line of each: 12 bytes in a table that is at least half full, most of the time. */
interface EmailIndex {
  /** Enters an e-mail. @returns the line that has it already; undefined = none */
  add(email: string, line: number): number | undefined
}

const slotsMin = 1_024

/**
 * An e-mail counts as known by 64 bits of its SHA-256: that two of a million differ and count as one has a probability
 * of 1 in 37 million, and the file is then refused, with both lines named.
 */
export function createEmailIndex(): EmailIndex {
  let table = createTable(slotsMin)
  let count = 0

  function grow(): void {
    const old = table
    table = createTable(old.lines.length * 2)
    for (const [slot, line] of old.lines.entries()) {
      if (line > 0) put(table, old.high[slot] ?? 0, old.low[slot] ?? 0, line)
    }
  }

  function add(email: string, line: number): number | undefined {
    const digest = hash('sha256', emailKey(email), 'buffer')
    const known = put(table, digest.readUInt32LE(0), digest.readUInt32LE(4), line)
    if (known !== undefined) return known
    count++
    if (count * 4 > table.lines.length * 3) grow()
    return undefined
  }

  return { add }
}

interface Table {
  readonly high: Uint32Array
  readonly low: Uint32Array
  /** 0 = the slot is free. */
  readonly lines: Uint32Array
}

function createTable(slots: number): Table {
  return { high: new Uint32Array(slots), low: new Uint32Array(slots), lines: new Uint32Array(slots) }
}

/** Open addressing with linear probing. @returns the line that is there already */
function put({ high, low, lines }: Table, first: number, second: number, line: number): number | undefined {
  const mask = lines.length - 1
  for (let slot = first & mask; ; slot = (slot + 1) & mask) {
    const known = lines[slot]
    if (known === undefined || known === 0) {
      high[slot] = first
      low[slot] = second
      lines[slot] = line
      return undefined
    }
    if (high[slot] === first && low[slot] === second) return known
  }
}

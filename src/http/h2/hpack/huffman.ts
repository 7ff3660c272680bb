import { CompressionError } from './tables.ts'

/** How many bits each byte takes (RFC 7541 Appendix B). The code is canonical, so the lengths define it. */
const codeLengths = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28,
  28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7,
  8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19,
  13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13,
  28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21,
  22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23,
  22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
  19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25,
  25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
]
/** The end-of-string symbol, of which only the padding may contain a part. */
const endSymbol = 256
const endLength = 30

/** The nodes of the code's tree, two numbers each: a node (from 0), or a symbol as -1 - symbol. */
function buildTree(): number[] {
  const children: number[] = [Number.NaN, Number.NaN]
  const symbols = [...codeLengths, endLength]
    .map((length, symbol) => ({ length, symbol }))
    .toSorted((one, other) => one.length - other.length || one.symbol - other.symbol)
  let code = 0
  let lengthBefore = 0
  for (const { length, symbol } of symbols) {
    code <<= length - lengthBefore
    lengthBefore = length
    let node = 0
    for (let bit = length - 1; bit > 0; bit--) {
      const at = 2 * node + ((code >>> bit) & 1)
      if (Number.isNaN(children[at])) {
        children[at] = children.length / 2
        children.push(Number.NaN, Number.NaN)
      }
      node = children[at] ?? 0
    }
    children[2 * node + (code & 1)] = -1 - symbol
    code++
  }
  return children
}

const emits = 0x10000
const fails = 0x20000
const endsHere = 0x40000

/**
 * The result of four bits, for each node: the next node in the bits from 0, the byte in the bits from 8 if one ends (at
 * most one, as no code is shorter than five bits), and flags.
 */
function buildSteps(): Int32Array {
  const tree = buildTree()
  const paddings = paddingNodes(tree)
  const steps = new Int32Array(16 * (tree.length / 2))
  for (let start = 0; start < tree.length / 2; start++) {
    for (let bits = 0; bits < 16; bits++) {
      let node = start
      let step = 0
      for (let bit = 3; bit >= 0; bit--) {
        const next = tree[2 * node + ((bits >>> bit) & 1)] ?? 0
        if (next === -1 - endSymbol) step |= fails
        else if (next < 0) step |= emits | ((-1 - next) << 8)
        node = Math.max(0, next)
      }
      steps[16 * start + bits] = step | node | (paddings.has(node) ? endsHere : 0)
    }
  }
  return steps
}

/**
 * The nodes where a string may end: its padding is shorter than a byte, and is the beginning of the end-of-string code,
 * which is all ones.
 */
function paddingNodes(tree: readonly number[]): Set<number> {
  const nodes = new Set([0])
  let node = 0
  for (let bits = 1; bits < 8; bits++) {
    node = tree[2 * node + 1] ?? 0
    nodes.add(node)
  }
  return nodes
}

const steps = buildSteps()
/** What was decoded last, from its start on. */
export const decoded = { bytes: Buffer.allocUnsafeSlow(4_096) }

/**
 * Decodes a string (RFC 7541 5.2) to `decoded`.
 * @returns its length in bytes
 * @throws CompressionError for a wrong padding, or an end within it
 */
export function decodeHuffman(bytes: Buffer, start: number, end: number): number {
  // The shortest code has five bits.
  const lengthMax = ((end - start) * 8) / 5 + 1
  if (decoded.bytes.length < lengthMax) decoded.bytes = Buffer.allocUnsafeSlow(2 * Math.ceil(lengthMax))
  const { bytes: out } = decoded
  let length = 0
  let node = 0
  let state = endsHere
  for (let index = start; index < end; index++) {
    const byte = bytes[index] ?? 0
    const high = steps[16 * node + (byte >>> 4)] ?? fails
    if ((high & emits) !== 0) out[length++] = (high >>> 8) & 0xff
    state = steps[16 * (high & 0xff) + (byte & 15)] ?? fails
    if ((state & emits) !== 0) out[length++] = (state >>> 8) & 0xff
    node = state & 0xff
    if (((high | state) & fails) !== 0) throw new CompressionError('a string contains its end')
  }
  if ((state & endsHere) === 0) throw new CompressionError('a string is padded wrongly')
  return length
}

import { frameFlag, framePayloadMax, frameType } from './constants.ts'
import type { FrameOutput } from './output.ts'

/** Writes a field block, in as many frames as it needs (RFC 9113 6.2, 6.10). */
export function writeFieldBlock(output: FrameOutput, streamId: number, block: Buffer, isLast: boolean): void {
  const ending = isLast ? frameFlag.endStream : 0
  if (block.length <= framePayloadMax) {
    output.frame(frameType.headers, ending | frameFlag.endHeaders, streamId, block)
    return
  }
  output.frame(frameType.headers, ending, streamId, block, 0, framePayloadMax)
  for (let at = framePayloadMax; at < block.length; at += framePayloadMax) {
    const end = Math.min(block.length, at + framePayloadMax)
    const flags = end === block.length ? frameFlag.endHeaders : 0
    output.frame(frameType.continuation, flags, streamId, block, at, end)
  }
}

import type { Frame } from './profile.ts'

const width = 1_400
const rowHeight = 18
/** Frames narrower than this many pixels are left out. */
const least = 0.5

/** A flame graph as SVG: a row a call, as wide as its share of the time; hovering shows the rest. */
export function drawFlame(root: Frame, title: string): string {
  const rows: string[] = []
  let depthMost = 0
  function draw(frame: Frame, left: number, depth: number): void {
    const wide = (frame.totalUs / root.totalUs) * width
    if (wide < least) return
    depthMost = Math.max(depthMost, depth)
    rows.push(boxOf(frame, { left, wide, top: (depth + 2) * rowHeight, total: root.totalUs }))
    let next = left
    for (const callee of frame.callees) {
      draw(callee, next, depth + 1)
      next += (callee.totalUs / root.totalUs) * width
    }
  }
  draw(root, 0, 0)
  const height = (depthMost + 4) * rowHeight
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="monospace" font-size="11">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="6" y="${rowHeight}" font-size="13">${escapeXml(title)}</text>`,
    ...rows,
    '</svg>\n',
  ].join('\n')
}

interface Box {
  readonly left: number
  readonly wide: number
  readonly top: number
  readonly total: number
}

function boxOf({ name, place, totalUs }: Frame, { left, wide, top, total }: Box): string {
  const percent = ((totalUs / total) * 100).toFixed(1)
  const shown = name.slice(0, Math.max(0, Math.floor((wide - 6) / 6.7)))
  return [
    `<g><title>${escapeXml(`${name} ${place} ${percent} %`)}</title>`,
    `<rect x="${left.toFixed(2)}" y="${top}" width="${wide.toFixed(2)}" height="${rowHeight - 1}" fill="${colourOf(place)}"/>`,
    shown.length > 2 ? `<text x="${(left + 3).toFixed(2)}" y="${top + 13}">${escapeXml(shown)}</text>` : '',
    '</g>',
  ].join('')
}

/** Own code, packages, Node, and native code. */
function colourOf(place: string): string {
  if (place === '') return '#d4d4d8'
  if (place.startsWith('node:')) return '#a7d8a0'
  return place.includes('node_modules/') ? '#9cc3f0' : '#f6b26b'
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

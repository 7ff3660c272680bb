import { renderSVG } from 'uqr'
import { type Html, html } from '#platform/pages/html.ts'

/** A QR code as a picture, dark on light in both colour schemes, as cameras want it. */
export function qrCode(text: string, description: string): Html {
  const svg = renderSVG(text, { ecc: 'M', border: 2 })
  const source = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
  return html`<img class="qr" src="${source}" alt="${description}" width="200" height="200">`
}

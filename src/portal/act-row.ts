import { type Content, type Html, html } from '../pages/html.ts'
import { form } from './form.ts'
import type { Frame } from './frame.ts'

/** A fact about an account. */
export function factRow(text: string, hint: Content): Html {
  return html`<div class="act-row"><div><p>${text}</p><p class="hint">${hint}</p></div></div>`
}

interface Act {
  readonly path: string
  readonly text: string
  readonly hint: string
  readonly button: string
  /** A field to fill in first. */
  readonly asked?: Html | undefined
}

/** A fact about an account, with the button that changes it. */
export function actRow(frame: Frame, { path, text, hint, button, asked }: Act): Html {
  return html`<div class="act-row"><div><p>${text}</p><p class="hint">${hint}</p></div>${form(frame, {
    action: path,
    class: 'inline',
    body: html`${asked}<button>${button}</button>`,
  })}</div>`
}

import { type Content, type Html, html } from '../../pages/html.ts'
import { form } from './form.ts'
import type { PageFrame } from './frame.ts'

/** A fact about an account. */
export function factRow(text: string, hint: Content): Html {
  return html`<div class="act-row"><div><p>${text}</p><p class="hint">${hint}</p></div></div>`
}

interface ActionRow {
  readonly path: string
  readonly text: string
  readonly hint: string
  readonly button: string
  /** A field that the action requires. */
  readonly asked?: Html | undefined
}

/** A fact about an account, with the button that changes it. */
export function actionRow(frame: PageFrame, { path, text, hint, button, asked }: ActionRow): Html {
  return html`<div class="act-row"><div><p>${text}</p><p class="hint">${hint}</p></div>${form(frame, {
    action: path,
    class: 'inline',
    body: html`${asked}<button>${button}</button>`,
  })}</div>`
}

import type { CreatedAccount } from '../../accounts/accounts.ts'
import { csvLine } from '../../accounts/csv-line.ts'
import { type BadLine, importMax } from '../../accounts/import.ts'
import { card } from '../../pages/card.ts'
import { type Html, html } from '../../pages/html.ts'
import { icon } from '../../pages/icons.ts'
import { plural } from './accounts.ts'
import { codeBlock } from './code-block.ts'
import { form, formMessage } from './form.ts'
import type { FormState, PageFrame } from './frame.ts'
import { page } from './page.ts'

export interface ImportView {
  readonly state: FormState
  readonly badLines: readonly BadLine[]
  /** Whether the only error is that every account of the file exists already. Default: false. */
  readonly isRepeated?: boolean
  /** The new accounts with their keys; undefined = nothing was imported yet. */
  readonly imported: readonly CreatedAccount[] | undefined
}

/** How many bad lines are listed at most. */
const badLinesShown = 200

/** The page to import many accounts at once: all of a file, or none if a line is bad. */
export function importPage(frame: PageFrame, view: ImportView): Html {
  const { state, badLines, imported } = view
  return page(frame, {
    title: 'Import accounts',
    section: '/accounts',
    breadcrumb: { href: '/accounts', text: 'Accounts' },
    lead: html`CSV with a heading, or one JSON object a line: up to ${importMax.portal.toLocaleString('en')} accounts, of which all are made, or none. For more, use the command <code>gatehouse accounts import</code>.`,
    body: html`${imported && importedPart(frame, imported)}
${badLines.length > 0 && badLinesCard(view)}
<section class="card"><div class="body">${form(frame, {
      action: '/accounts/import',
      isUpload: true,
      body: html`${formMessage(state)}
<div class="field"><label for="file">File</label><input id="file" name="file" type="file" accept=".csv,.jsonl,.ndjson,.json,text/csv,application/x-ndjson"></div>
<div class="field"><label for="text">Or paste it here</label><p class="hint" id="text-hint">Fields: email, firstName, lastName, role, isVerified; all but email may be left out.</p>
<textarea id="text" name="text" rows="8" spellcheck="false" aria-describedby="text-hint" placeholder="email,firstName,lastName,role,isVerified">
${state.values.text}</textarea></div>
<div><button class="primary">Import</button></div>`,
    })}</div></section>`,
  })
}

/** Shows the keys: nobody else has them, and without sealed copies they cannot be shown again. */
function importedPart({ base }: PageFrame, imported: readonly CreatedAccount[]): Html {
  return html`<div class="notice good" role="status">${icon('good')}<div><p>${plural(imported.length, 'account')} made. <a href="${base}/accounts">Show accounts</a></p></div></div>
${card({
  title: 'Their keys',
  lead: 'Give each owner theirs. They are shown only this once: keep them before you leave this page.',
  body: codeBlock('Keys as CSV', keysCsv(imported), { isTall: true, saveAs: 'keys.csv' }),
})}`
}

function keysCsv(imported: readonly CreatedAccount[]): string {
  const rows = imported.map(({ account: { id, email }, secretKey, apiKey }) => [id, email, secretKey, apiKey])
  return [['id', 'email', 'secretKey', 'apiKey'], ...rows].map(csvLine).join('')
}

function badLinesCard({ badLines, isRepeated = false }: ImportView): Html {
  const more = badLines.length - badLinesShown
  return card({
    ...(isRepeated ? repeatedImportText : badLinesText(badLines.length)),
    isFlush: true,
    body: html`<table role="alert"><thead><tr><th scope="col">Line</th><th scope="col">What is wrong</th></tr></thead><tbody>${badLines
      .slice(0, badLinesShown)
      .map(
        ({ line, message }) =>
          html`<tr><td data-label="Line"><div>${line}</div></td><td data-label="Wrong"><div>${message}</div></td></tr>`,
      )}</tbody></table>${more > 0 && html`<footer><span class="muted">And ${plural(more, 'line')} more.</span></footer>`}`,
  })
}

function badLinesText(count: number) {
  return {
    title: `${plural(count, 'line')} cannot be imported`,
    lead: 'Nothing was imported. Fix these, and import the file again.',
  }
}

/** “Nothing was imported” would be false in the answer to the second of two identical imports. */
const repeatedImportText = {
  title: 'All of these accounts exist already',
  lead: 'Perhaps the same file was imported twice. If nobody has kept the keys, reset them on each account.',
}

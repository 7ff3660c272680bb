import { keysCsvHeading, keysCsvLines } from '#accounts/account-data.ts'
import type { CreatedAccount } from '#accounts/accounts.ts'
import { type BadLine, importMax } from '#accounts/import.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { card, icon } from '#platform/pages/parts.ts'
import { mailLinkField, plural } from './accounts-page.ts'
import { form, formMessage } from './form.ts'
import type { FormState, PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { codeBlock, titleRow } from './parts.ts'

export interface ImportView {
  readonly state: FormState
  readonly badLines: readonly BadLine[]
  /** Whether the only error is that every account of the file already exists. Default: false. */
  readonly isRepeated?: boolean
  /** The new accounts with their keys; undefined = nothing was imported yet. */
  readonly imported: readonly CreatedAccount[] | undefined
  /** Whether their owners get set-up links by mail. Default: false. */
  readonly isMailed?: boolean
}

/** Invalid lines listed at most. */
const badLinesShown = 200

/** The page to import a file of accounts: all of them, or none if a line is invalid. */
export function importPage(frame: PageFrame, view: ImportView): Html {
  const { state, badLines, imported } = view
  return page(frame, {
    title: 'Import accounts',
    section: '/accounts',
    breadcrumb: { href: '/accounts', text: 'Accounts' },
    lead: html`CSV with a header row, or JSON Lines: up to ${importMax.portal.toLocaleString('en')} accounts, all or nothing. For larger files use <code>gatehouse accounts import</code>.`,
    body: html`${imported && importedPart(frame, imported, view.isMailed === true)}
${badLines.length > 0 && badLinesCard(view)}
<section class="card"><div class="body">${form(frame, {
      action: '/accounts/import',
      isUpload: true,
      body: html`${formMessage(state)}
<div class="field"><label for="file">File</label><input id="file" name="file" type="file" accept=".csv,.jsonl,.ndjson,.json,text/csv,application/x-ndjson"></div>
<div class="field"><label for="text">Or paste it here</label><p class="hint" id="text-hint">Fields: email, firstName, lastName, role, isVerified, plan; only email is required.</p>
<textarea id="text" name="text" rows="8" spellcheck="false" aria-describedby="text-hint" placeholder="email,firstName,lastName,role,isVerified">
${state.values.text}</textarea></div>
${mailLinkField(frame, state, 'Send each owner a set-up link by e-mail')}
<div><button class="primary">Import</button></div>`,
    })}</div></section>`,
  })
}

/** Shows the keys, as there is no other copy, and without sealed copies they cannot be shown again. */
function importedPart(frame: PageFrame, imported: readonly CreatedAccount[], isMailed: boolean): Html {
  return html`<div class="notice good" role="status">${icon('good')}<div><p>${plural(imported.length, 'account')} created${isMailed && ', and their set-up links are on their way'}. <a href="${frame.base}/accounts">Show accounts</a></p></div></div>
${card({
  title: 'Keys',
  lead: 'Save these keys before you leave this page: they are not shown again.',
  body: codeBlock(frame, 'Keys as CSV', keysCsvHeading + keysCsvLines(imported), {
    isTall: true,
    saveAs: 'keys.csv',
  }),
})}`
}

function badLinesCard({ badLines, isRepeated = false }: ImportView): Html {
  const more = badLines.length - badLinesShown
  return card({
    ...(isRepeated ? repeatedImportText : badLinesText(badLines.length)),
    isFlush: true,
    body: html`<table role="alert">${titleRow(['Line', 'Problem'])}<tbody>${badLines
      .slice(0, badLinesShown)
      .map(
        ({ line, message }) =>
          html`<tr><td data-label="Line"><div>${line}</div></td><td data-label="Problem"><div>${message}</div></td></tr>`,
      )}</tbody></table>${more > 0 && html`<footer><span class="muted">And ${plural(more, 'line')} more.</span></footer>`}`,
  })
}

function badLinesText(count: number) {
  return {
    title: `${plural(count, 'line')} cannot be imported`,
    lead: 'Nothing was imported. Fix these lines and import the file again.',
  }
}

/** For the second of two identical imports, “Nothing was imported” would be wrong. */
const repeatedImportText = {
  title: 'All of these accounts already exist',
  lead: 'The file may have been imported twice. If the keys were not saved, reset them on each account.',
}

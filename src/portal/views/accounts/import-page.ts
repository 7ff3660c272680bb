import { keysCsvHeading, keysCsvLines } from '#accounts/account-data.ts'
import type { CreatedAccount } from '#accounts/accounts.ts'
import { type BadLine, importMax } from '#accounts/import-file.ts'
import { card, type Html, html, icon } from '#platform/pages/html.ts'
import { form, formMessage } from '../form.ts'
import type { FormState, PageFrame } from '../frame.ts'
import { page } from '../layout.ts'
import { cell, codeBlock, titleRow } from '../parts.ts'
import { belowAccounts, mailLinkField } from './account-forms.ts'

export interface ImportView {
  readonly state: FormState
  /** Default: none. */
  readonly badLines?: readonly BadLine[]
  /** Whether the only error is that every account of the file already exists. Default: false. */
  readonly isRepeated?: boolean
  /** The new accounts with their keys; undefined = nothing was imported yet. */
  readonly imported?: readonly CreatedAccount[] | undefined
  /** Whether their owners get set-up links by mail. Default: false. */
  readonly isMailed?: boolean
}

const badLinesShown = 200

/** The page to import a file of accounts: all of them, or none if a line is invalid. */
export function importPage(frame: PageFrame, view: ImportView): Html {
  const { state, badLines = [], imported } = view
  const texts = frame.texts.accountImport
  return page(frame, {
    title: texts.title,
    ...belowAccounts(frame),
    lead: texts.lead(importMax.portal),
    body: html`${imported && importedPart(frame, imported, view.isMailed === true)}
${badLines.length > 0 && badLinesCard(frame, badLines, view.isRepeated)}
<section class="card"><div class="body">${form(frame, {
      action: '/accounts/import',
      isUpload: true,
      body: html`${formMessage(state)}
<div class="field"><label for="file">${texts.file}</label><input id="file" name="file" type="file" accept=".csv,.jsonl,.ndjson,.json,text/csv,application/x-ndjson"></div>
<div class="field"><label for="text">${texts.text}</label><p class="hint" id="text-hint">${texts.textHint('email, firstName, lastName, role, isVerified, plan')}</p>
<textarea id="text" name="text" rows="8" spellcheck="false" aria-describedby="text-hint" placeholder="email,firstName,lastName,role,isVerified">
${state.values.text}</textarea></div>
${mailLinkField(frame, state, texts.mailsLink)}
<div><button class="primary">${texts.submit}</button></div>`,
    })}</div></section>`,
  })
}

/** Shows the new keys: unless the store keeps sealed copies, they cannot be shown again. */
function importedPart(frame: PageFrame, imported: readonly CreatedAccount[], isMailed: boolean): Html {
  const texts = frame.texts.accountImport
  const created = isMailed ? texts.createdAndMailed : texts.created
  return html`<div class="notice good" role="status">${icon('good')}<div><p>${created(imported.length, `${frame.base}/accounts`)}</p></div></div>
${card({
  title: frame.texts.accounts.keys,
  lead: texts.keysLead,
  body: codeBlock(frame, texts.keysFile, keysCsvHeading + keysCsvLines(imported), {
    isTall: true,
    saveAs: 'keys.csv',
  }),
})}`
}

function badLinesCard(
  { texts: { accountImport: texts } }: PageFrame,
  badLines: readonly BadLine[],
  isRepeated = false,
): Html {
  const more = badLines.length - badLinesShown
  return card({
    title: isRepeated ? texts.repeated : texts.badLines(badLines.length),
    lead: isRepeated ? texts.repeatedLead : texts.badLinesLead,
    isFlush: true,
    body: html`<table role="alert">${titleRow([texts.line, texts.problem])}<tbody>${badLines
      .slice(0, badLinesShown)
      .map(
        ({ line, message }) => html`<tr>${cell(texts.line, line)}${cell(texts.problem, message)}</tr>`,
      )}</tbody></table>${more > 0 && html`<footer><span class="muted">${texts.moreBadLines(more)}</span></footer>`}`,
  })
}

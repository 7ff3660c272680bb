import { german } from '#platform/locales.ts'
import { formatCount } from '#platform/pages/format.ts'
import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'
import { accountCount } from './accounts.ts'

export const accountImport: Texts['accountImport'] = {
  title: 'Konten importieren',
  lead: (max) =>
    html`CSV mit Kopfzeile oder JSON Lines: bis zu ${formatCount(max, german)} Konten, entweder alle oder keines. Für größere Dateien gibt es <code>gatehouse accounts import</code>.`,
  file: 'Datei',
  text: 'Oder hier einfügen',
  textHint: (fields) => `Felder: ${fields}; nur email ist erforderlich.`,
  mailsLink: 'Jedem Konto einen Einrichtungslink per E-Mail senden',
  submit: 'Importieren',
  nothing: 'Wählen Sie eine Datei, oder fügen Sie ihren Inhalt ein.',
  tooMany: (max, command) =>
    `Das Portal importiert höchstens ${formatCount(max, german)} Konten auf einmal. Teilen Sie die Datei auf, oder verwenden Sie gatehouse accounts import DATEI (bis zu ${formatCount(command, german)}).`,
  created: (count, url) => html`${accountCount(count)} erstellt. <a href="${url}">Konten anzeigen</a>`,
  createdAndMailed: (count, url) =>
    html`${accountCount(count)} erstellt; die Einrichtungslinks sind unterwegs. <a href="${url}">Konten anzeigen</a>`,
  keys: 'Schlüssel',
  keysLead:
    'Speichern Sie diese Schlüssel, bevor Sie die Seite verlassen. Sie werden nicht noch einmal angezeigt.',
  keysFile: 'CSV-Datei',
  badLines: (count) =>
    `${formatCount(count, german)} ${count === 1 ? 'Zeile kann' : 'Zeilen können'} nicht importiert werden`,
  badLinesLead:
    'Es wurde nichts importiert. Korrigieren Sie diese Zeilen, und importieren Sie die Datei erneut.',
  line: 'Zeile',
  problem: 'Fehler',
  moreBadLines: (count) =>
    count === 1 ? 'Und 1 weitere Zeile.' : `Und ${formatCount(count, german)} weitere Zeilen.`,
  repeated: 'Alle diese Konten gibt es bereits',
  repeatedLead:
    'Möglicherweise wurde die Datei zweimal importiert. Falls die Schlüssel nicht gespeichert wurden, setzen Sie sie bei jedem Konto zurück.',
}

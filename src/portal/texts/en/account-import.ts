import { formatCount } from '#platform/pages/format.ts'
import { html } from '#platform/pages/html.ts'
import { accountCount } from './accounts.ts'

export const accountImport = {
  title: 'Import accounts',
  lead: (max: number) =>
    html`CSV with a header row, or JSON Lines: up to ${formatCount(max)} accounts, all or nothing. For larger files use <code>gatehouse accounts import</code>.`,
  file: 'File',
  text: 'Or paste it here',
  /** @param fields separated by commas */
  textHint: (fields: string) => `Fields: ${fields}; only email is required.`,
  mailsLink: 'Send each owner a set-up link by e-mail',
  submit: 'Import',
  nothing: 'Choose a file or paste its contents.',
  /** @param command how many the command line imports */
  tooMany: (max: number, command: number) =>
    `The portal imports at most ${formatCount(max)} accounts at a time. Split the file, or use gatehouse accounts import FILE (up to ${formatCount(command)}).`,
  created: (count: number, url: string) =>
    html`${accountCount(count)} created. <a href="${url}">Show accounts</a>`,
  createdAndMailed: (count: number, url: string) =>
    html`${accountCount(count)} created, and their set-up links are on their way. <a href="${url}">Show accounts</a>`,
  keys: 'Keys',
  keysLead: 'Save these keys before you leave this page: they are not shown again.',
  keysFile: 'Keys as CSV',
  badLines: (count: number) => `${lineCount(count)} cannot be imported`,
  badLinesLead: 'Nothing was imported. Fix these lines and import the file again.',
  line: 'Line',
  problem: 'Problem',
  moreBadLines: (count: number) => `And ${lineCount(count)} more.`,
  /** For the second of two identical imports, “Nothing was imported” would be wrong. */
  repeated: 'All of these accounts already exist',
  repeatedLead:
    'The file may have been imported twice. If the keys were not saved, reset them on each account.',
}

function lineCount(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'line' : 'lines'}`
}

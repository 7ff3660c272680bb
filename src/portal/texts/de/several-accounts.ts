import type { Texts } from '../en/en.ts'
import { accountCount } from './accounts.ts'

export const severalAccounts: Texts['severalAccounts'] = {
  disable: {
    action: 'Sperren',
    title: (count) => `${accountCount(count)} sperren?`,
    lead: 'Die Schlüssel werden nicht mehr angenommen, und die Sitzungen enden. Nach dem Entsperren gelten die Schlüssel wieder, die Sitzungen nicht.',
  },
  enable: {
    action: 'Entsperren',
    title: (count) => `${accountCount(count)} entsperren?`,
    lead: 'Die Schlüssel gelten wieder.',
  },
  role: {
    action: 'Rolle ändern',
    title: (count) => `Rolle von ${accountCount(count)} ändern?`,
    lead: 'Access-Tokens, die mit der alten Rolle ausgestellt wurden, werden widerrufen.',
  },
  plan: {
    action: 'Tarif ändern',
    title: (count) => `Tarif von ${accountCount(count)} ändern?`,
    lead: 'Der neue Tarif gilt ab der nächsten Anfrage.',
  },
  outcome: {
    title: (changed, count) => `${changed} von ${accountCount(count)} geändert`,
    refused: (count) => `${accountCount(count)} ${count === 1 ? 'konnte' : 'konnten'} nicht geändert werden.`,
    table: 'Nicht geänderte Konten',
    why: 'Grund',
  },
}

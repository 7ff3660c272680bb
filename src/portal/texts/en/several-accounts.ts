import { accountCount } from './accounts.ts'

export const severalAccounts = {
  disable: {
    action: 'Disable',
    title: (count: number) => `Disable ${accountCount(count)}?`,
    lead: 'Their keys stop working and their sessions end. Enabling them again restores the keys, not the sessions.',
  },
  enable: {
    action: 'Enable',
    title: (count: number) => `Enable ${accountCount(count)}?`,
    lead: 'Their keys work again.',
  },
  role: {
    action: 'Change the role',
    title: (count: number) => `Change the role of ${accountCount(count)}?`,
    lead: 'Access tokens issued with the old role are revoked.',
  },
  plan: {
    action: 'Change the plan',
    title: (count: number) => `Change the plan of ${accountCount(count)}?`,
    lead: 'The new plan applies from the next request on.',
  },
  outcome: {
    title: (changed: number, count: number) => `${changed} of ${accountCount(count)} changed`,
    refused: (count: number) => `${accountCount(count)} could not be changed.`,
    table: 'Accounts that were not changed',
    why: 'Why',
  },
}

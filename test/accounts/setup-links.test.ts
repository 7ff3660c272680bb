import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createAuditEntryFactory } from '#accounts/audit-log.ts'
import type { Mail } from '#accounts/mails/mail.ts'
import { createSetupLinks } from '#accounts/setup-links.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import { newSqlitePlace } from '../store/sqlite/place.ts'
import { actsOn } from './account-actions.ts'

t.test('an account that is deleted meanwhile gets no link, neither shown nor mailed', async (t) => {
  const store = await (await newSqlitePlace(t)).open()
  const clock = Date.now
  const sealer = createSealer(randomBytes(32))
  const { accounts } = actsOn(store, { sealer, reveal: false, prefix: 'gate', clock })
  const mails: Mail[] = []
  const links = createSetupLinks({
    store: {
      setSetupLink: async (id, ...link) => {
        await accounts.remove(id)
        return store.setSetupLink(id, ...link)
      },
    },
    accounts,
    entry: createAuditEntryFactory({ kind: 'system', channel: 'system' }, clock),
    portalUrl: 'https://api.example.com/portal',
    setupLinkLifetimeMs: 3_600_000,
    deliverSetupMail: async (mail) => void mails.push(mail),
    clock,
  })
  for (const make of [links.create, links.mail]) {
    const { account } = await accounts.create({
      email: 'ada@example.com',
      firstName: 'Ada',
      lastName: 'Lovelace',
      role: 'User',
      isVerified: true,
    })
    await t.rejects(async () => void (await make(account.id)), { code: 'account-not-found' })
  }
  t.strictSame(mails, [])
})

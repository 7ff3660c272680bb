import { hash } from 'node:crypto'
import { everySecond } from '#platform/every-second.ts'
import { type Clock, dayMs, type EpochMs } from '#platform/time.ts'
import { type Account, type AccountReader, type AccountStore, readAllAccounts } from '#store/accounts.ts'
import type { EventStore } from '#store/audit.ts'
import { digestText } from '#store/keys.ts'
import { keyState, type SecretKey } from '#store/secret-keys.ts'
import { createAuditEntryFactory } from '../audit-log.ts'
import { mailTo, readMailTexts, type SendMail } from '../mails/mail.ts'
import type { Receiver } from './receiver.ts'

interface RemindersOptions {
  readonly store: Pick<AccountStore, 'listAccounts'> & Omit<EventStore, 'readAuditAfter'>
  readonly clock: Clock
  onStoreFailure(error: unknown): void
}

interface Reminders {
  /** @param thresholdsMs how long before the end of a key it is announced; none = never */
  use(thresholdsMs: readonly number[]): void
  close(): void
}

/** How often all accounts are looked through, by one of all processes. */
const scanMs = 600_000
/** How many accounts are read at once. */
const pageSize = 200
/** The ID under which the store keeps the last scan, among the receivers of events. */
const scanId = 'reminders'

/**
 * Writes an entry to the audit log for each key that is about to expire: once for each threshold, however many
 * processes there are, and even if one of them dies.
 */
export function openReminders({ store, clock, onStoreFailure }: RemindersOptions): Reminders {
  const entry = createAuditEntryFactory({ kind: 'system', channel: 'system' }, clock)
  let thresholds: readonly number[] = []
  let nextAt = Number.NEGATIVE_INFINITY
  let isScanning = false
  let isClosed = false

  /** Only one of several processes is told that it is time. */
  async function claimScan(): Promise<boolean> {
    const before = (await store.readReceivers()).get(scanId) ?? ''
    // It has `heldUntil`, like every receiver, so that it is not deleted as one that no config names any more.
    const { heldUntil = 0, done = '' } = before === '' ? {} : (JSON.parse(before) as LastScan)
    const thresholdsText = thresholds.join()
    if (clock() < heldUntil && done === thresholdsText) return false
    const after = JSON.stringify({ heldUntil: clock() + scanMs, done: thresholdsText } satisfies LastScan)
    return store.replaceReceiver({ id: scanId, before, after })
  }

  async function scan(): Promise<void> {
    if (!(await claimScan())) return
    for await (const page of readAllAccounts(store, pageSize)) {
      if (isClosed) return
      for (const account of page) await announceKeys(account)
    }
  }

  async function announceKeys(account: Account): Promise<void> {
    if (account.isDisabled) return
    for (const key of account.secretKeys) {
      const thresholdMs = passedThreshold(key, thresholds, clock())
      if (thresholdMs === undefined || key.expiresAt === undefined) continue
      const details = { name: key.name, expiresAt: new Date(key.expiresAt).toISOString() }
      // The digest covers the end of the key too, as that may be changed.
      const digest = hash('sha256', `${digestText(key)} ${key.expiresAt}`, 'base64url').slice(0, 22)
      await store.appendAuditOnce({
        id: `expiring:${account.id}:${digest}:${thresholdMs}`,
        keptUntil: key.expiresAt + dayMs,
        entry: entry('key-expiring', account, details),
      })
    }
  }

  function tick(): void {
    if (isScanning || thresholds.length === 0 || clock() < nextAt) return
    isScanning = true
    nextAt = clock() + scanMs / 10
    scan()
      .catch(onStoreFailure)
      .finally(() => {
        isScanning = false
      })
  }

  const stop = everySecond(tick)
  return {
    use: (next) => {
      thresholds = next
      nextAt = Number.NEGATIVE_INFINITY
      tick()
    },
    close: () => {
      isClosed = true
      stop()
    },
  }
}

interface LastScan {
  readonly heldUntil: EpochMs
  readonly done: string
}

/** The last threshold that a key has passed; undefined = none, its lifetime is shorter, or it is not valid. */
function passedThreshold(key: SecretKey, thresholds: readonly number[], now: EpochMs): number | undefined {
  const { expiresAt, createdAt, revokedAt } = key
  if (expiresAt === undefined || revokedAt !== undefined || keyState(key, now) !== 'valid') return undefined
  const passed = thresholds.filter((ms) => now >= expiresAt - ms && createdAt < expiresAt - ms)
  return passed.length === 0 ? undefined : Math.min(...passed)
}

interface ReminderReceiverOptions {
  readonly store: Pick<AccountReader, 'findAccount'>
  readonly sendMail: SendMail
  readonly portalUrl: string
}

/** Tells owners by mail of keys that are about to expire: as a receiver of events, so that no mail is lost. */
export function createReminderReceiver({ store, sendMail, portalUrl }: ReminderReceiverOptions): Receiver {
  return {
    id: 'mail',
    name: 'mail to owners of keys',
    wants: (type) => type === 'key.expiring',
    deliver: async ({ entry: { target, details } }) => {
      if (!target) return
      const key = { name: String(details.name), expiresAt: Date.parse(String(details.expiresAt)), portalUrl }
      const { keyExpires } = await readMailTexts(store, target.id)
      await sendMail(mailTo(target.email, keyExpires(key)))
    },
  }
}

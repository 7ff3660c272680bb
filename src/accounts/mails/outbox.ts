import type { Mail, SendMail } from './mail.ts'

/** Sends mails in the background: no response waits for a mail server, or tells by its delay that a mail was sent. */
export interface Outbox {
  /** Does the work later; work beyond `waitingMax` is dropped, and reported as a failure. Never throws. */
  add(work: OutboxWork): void
  /** Resolves once what was added is done, or after `graceMs`. */
  close(graceMs: number): Promise<void>
}

interface OutboxWork {
  /** For the log, if it fails: which mail it was. Never an e-mail address or a link. */
  readonly about: { readonly mail: string; readonly account?: string | undefined }
  run(): Promise<void>
}

interface OutboxOptions {
  /** Called once for each mail that is not sent. */
  onFailure(error: unknown, about: OutboxWork['about']): void
}

/** How many mails may wait, of some 1 KB each, and how many are sent at a time. */
const waitingMax = 1_000
const atOnceMax = 4

export function openOutbox({ onFailure }: OutboxOptions): Outbox {
  const waiting: OutboxWork[] = []
  const running = new Set<Promise<void>>()

  function startNext(): void {
    while (running.size < atOnceMax) {
      const work = waiting.shift()
      if (!work) return
      const done: Promise<void> = runOne(work).finally(() => {
        running.delete(done)
        startNext()
      })
      running.add(done)
    }
  }

  async function runOne({ run, about }: OutboxWork): Promise<void> {
    try {
      await run()
    } catch (error) {
      onFailure(error, about)
    }
  }

  return {
    add: (work) => {
      if (waiting.length >= waitingMax) {
        onFailure(new Error(`${waitingMax} mails are waiting: this one was dropped`), work.about)
        return
      }
      waiting.push(work)
      // Delayed, so that the response that this mail is about goes out first.
      setImmediate(startNext)
    },
    close: async (graceMs) => {
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, graceMs)
      const settle = async () => {
        startNext()
        while (running.size > 0) await Promise.race(running)
      }
      await Promise.race([settle(), late])
      clearTimeout(timer)
    },
  }
}

/** Hands over a mail. In the gateway it resolves at once, as the outbox sends the mail; in commands once it is sent. */
export type DeliverMail = (mail: Mail, about: OutboxWork['about']) => Promise<void>

export function deliverInBackground(outbox: Pick<Outbox, 'add'>, sendMail: SendMail): DeliverMail {
  return async (mail, about) => outbox.add({ about, run: () => sendMail(mail) })
}

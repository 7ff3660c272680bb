import type { Receiver } from '#accounts/events/deliver-round.ts'
import { reportReceivers, retryReceiver, sendTestEvent } from '#accounts/events/receiver-report.ts'
import type { Config } from '#config/config.ts'
import { loadConfig } from '#config/load.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { createReceiver, receiverName } from '#runtime/assembly/events.ts'
import type { Command } from './command.ts'
import { type Operator, withOperator } from './operator.ts'
import { printData, printList } from './print.ts'

const receiverOption = {
  receiver: { type: 'string', value: 'URL', help: 'Only this one, by its URL in the config or in the list.' },
} as const

const list: Command = {
  name: 'events list',
  operands: [],
  summary: 'Lists the receivers of events, what waits for each, and why.',
  examples: ['gatehouse events list'],
  printsData: true,
  run: async (invocation) => {
    const reports = await withOperator(invocation.config, ({ config, store }) =>
      withReceivers(config, undefined, (receivers) => reportReceivers(store, receivers)),
    )
    printList(invocation, reports, {
      columns: {
        RECEIVER: ({ receiver }) => receiver,
        STATE: ({ state }) => state,
        PENDING: ({ pending }) => pending,
        DROPPED: ({ dropped }) => dropped,
        DELIVERED: ({ deliveredAt }) => deliveredAt,
        'NEXT TRY': ({ nextAt }) => nextAt,
        'LAST FAILURE': ({ reason }) => reason,
      },
      whenEmpty: 'There are no receivers: see events in the config.',
    })
  },
}

const retry: Command = {
  name: 'events retry',
  operands: [],
  summary: 'Retries the events that wait for a receiver, or for all, at once.',
  examples: ['gatehouse events retry'],
  options: receiverOption,
  printsData: true,
  run: async (invocation) => {
    const retried = await withOperator(invocation.config, ({ config, store }: Operator) =>
      withReceivers(config, invocation.text('receiver'), async (receivers) => {
        const done = await Promise.all(
          receivers.map(async (one) => ((await retryReceiver(store, one)) ? [one.name] : [])),
        )
        return done.flat()
      }),
    )
    printData(
      invocation,
      { retried },
      retried.length === 0
        ? ['No gateway has delivered to any of them yet.']
        : retried.map((name) => `${name}: tried again within a second, where a gateway runs.`),
    )
  },
}

const test: Command = {
  name: 'events test',
  operands: [],
  summary: 'Sends a test event to a receiver, or all, and prints the results.',
  examples: ['gatehouse events test'],
  options: receiverOption,
  printsData: true,
  run: async (invocation) => {
    const { config } = loadConfig(invocation.config)
    const results = await withReceivers(config, invocation.text('receiver'), (receivers) =>
      Promise.all(receivers.map(async (one) => ({ receiver: one.name, error: await sendTestEvent(one) }))),
    )
    printList(invocation, results, {
      columns: { RECEIVER: ({ receiver }) => receiver, RESULT: ({ error }) => error ?? 'accepted' },
      whenEmpty: 'There are no receivers: see events in the config.',
    })
    const refused = results.filter(({ error }) => error !== null)
    if (refused.length > 0)
      throw new OperatorError(`${refused.length} of ${results.length} receivers did not accept the event`)
  },
}

/** @param url as in the config or the list; undefined = all receivers @throws OperatorError for an unknown one */
async function withReceivers<Result>(
  { events, publicOrigin }: Config,
  url: string | undefined,
  work: (receivers: readonly Receiver[]) => Promise<Result>,
): Promise<Result> {
  const chosen = events.filter((one) => url === undefined || one.url === url || receiverName(one) === url)
  if (url !== undefined && chosen.length === 0)
    throw new OperatorError(`no receiver has the URL ${url}`, { hint: 'See: gatehouse events list' })
  const receivers = chosen.map((one) => createReceiver(one, publicOrigin, Date.now))
  try {
    return await work(receivers)
  } finally {
    for (const { close } of receivers) close()
  }
}

export const eventCommands: readonly Command[] = [list, retry, test]

import type { Receiver } from '#accounts/events/receiver.ts'
import { reportReceivers } from '#accounts/events/receiver-actions.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { configuredReceivers } from '#runtime/assembly/events.ts'
import type { Command, Invocation } from './command.ts'
import { type Operator, withOperator } from './operator.ts'
import { printData, printList } from './print.ts'

const receiverOption = {
  receiver: { value: 'URL', help: 'Only this one, by its URL in the config or in the list.' },
} as const

const list: Command = {
  name: 'events list',
  summary: 'Lists the receivers of events, what waits for each, and why.',
  examples: ['gatehouse events list'],
  run: async (invocation) => {
    const reports = await withOperator(invocation.config, ({ config, store }) =>
      reportReceivers(store, configuredReceivers(config, Date.now)),
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
  summary: 'Retries the events that wait for a receiver, or for all, at once.',
  examples: ['gatehouse events retry'],
  options: receiverOption,
  run: async (invocation) => {
    const outcomes = await forChosen(invocation, async ({ receivers }, { id, name }) =>
      (await receivers.retry(id)) === 'retried' ? [name] : [],
    )
    const retried = outcomes.flat()
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
  summary: 'Sends a test event to a receiver, or all, and prints the results.',
  examples: ['gatehouse events test'],
  options: receiverOption,
  run: async (invocation) => {
    const outcomes = await forChosen(invocation, ({ receivers }, { id }) => receivers.test(id))
    const results = outcomes.filter((outcome) => outcome !== undefined)
    printList(invocation, results, {
      columns: { RECEIVER: ({ receiver }) => receiver, RESULT: ({ error }) => error ?? 'accepted' },
      whenEmpty: 'There are no receivers: see events in the config.',
    })
    const refused = results.filter(({ error }) => error !== null)
    if (refused.length > 0)
      throw new OperatorError(`${refused.length} of ${results.length} receivers did not accept the event`)
  },
}

/** Does the work for the receiver that `--receiver` chooses, or for all. @throws OperatorError for an unknown one */
function forChosen<Result>(
  { config: input, text }: Invocation,
  work: (operator: Operator, receiver: Receiver) => Promise<Result>,
): Promise<readonly Result[]> {
  const url = text('receiver')
  return withOperator(input, (operator) => {
    const { config } = operator
    const chosen = configuredReceivers(config, Date.now).filter(
      ({ name }, index) => url === undefined || url === name || url === config.events[index]?.url,
    )
    if (url !== undefined && chosen.length === 0)
      throw new OperatorError(`no receiver has the URL ${url}`, { hint: 'See: gatehouse events list' })
    return Promise.all(chosen.map((one) => work(operator, one)))
  })
}

export const eventCommands: readonly Command[] = [list, retry, test]

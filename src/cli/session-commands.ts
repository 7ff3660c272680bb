import { sessionData } from '#accounts/account-data.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { countOf } from '#platform/text.ts'
import type { Command } from './command.ts'
import { type Operator, withOperator } from './operator.ts'
import { printData, printList } from './print.ts'

const listSessions: Command = {
  name: 'sessions list',
  operands: ['ID|EMAIL'],
  summary: 'Lists the active sessions of an account.',
  examples: ['gatehouse sessions list ada@example.com'],
  run: async (invocation, who) => {
    const sessions = await withOperator(invocation.config, ({ sessions }) => sessions.list(who))
    printList(invocation, sessions.map(sessionData), {
      columns: {
        ID: ({ id }) => id,
        CREATED: ({ createdAt }) => createdAt,
        REFRESHED: ({ refreshedAt }) => refreshedAt,
        EXPIRES: ({ expiresAt }) => expiresAt,
        FROM: ({ address }) => address,
      },
      whenEmpty: 'No active sessions.',
    })
  },
}

const revokeSessions: Command = {
  name: 'sessions revoke',
  operands: ['ID|EMAIL'],
  summary: "Revokes an account's sessions and access tokens, and signs it out of the portal.",
  examples: ['gatehouse sessions revoke ada@example.com'],
  options: { session: { value: 'SID', help: 'Only this session.' } },
  run: async (invocation, who) => {
    const sessionId = invocation.text('session')
    const revoked = await withOperator(invocation.config, (operator) =>
      sessionId === undefined ? operator.sessions.endAll(who) : revokeOne(operator, who, sessionId),
    )
    printData(invocation, { revoked }, [`${countOf(revoked.length, 'session')} revoked.`])
  },
}

export const sessionCommands: readonly Command[] = [listSessions, revokeSessions]

async function revokeOne({ sessions }: Operator, who: string, sessionId: string): Promise<string[]> {
  if (await sessions.end(who, sessionId)) return [sessionId]
  throw new OperatorError(`the account has no active session ${sessionId}`, {
    hint: `See: gatehouse sessions list ${who}`,
  })
}

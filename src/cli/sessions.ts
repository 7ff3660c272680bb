import { OperatorError } from '../errors.ts'
import type { Session } from '../store/store.ts'
import type { Command } from './command.ts'
import { type Operator, withOperator } from './operator.ts'
import { printData, table } from './print.ts'

const list: Command = {
  name: 'sessions list',
  operands: ['ID|EMAIL'],
  summary: 'Lists the sessions of an account that have not ended.',
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const sessions = await withOperator(invocation.config, (operator) => listSessions(operator, who))
    const data = sessions.map(sessionData)
    const rows = data.map(({ id, createdAt, refreshedAt, expiresAt }) => [
      id,
      createdAt,
      refreshedAt,
      expiresAt,
    ])
    printData(
      invocation,
      data,
      table(['ID', 'CREATED', 'REFRESHED', 'EXPIRES'], rows, 'The account has no open sessions.'),
    )
    return 0
  },
}

const revoke: Command = {
  name: 'sessions revoke',
  operands: ['ID|EMAIL'],
  summary: 'Ends the sessions of an account with their access tokens.',
  options: { session: { type: 'string', value: 'SID', help: 'Only this session.' } },
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const sessionId = invocation.text('session')
    const revoked = await withOperator(invocation.config, (operator) =>
      sessionId === undefined ? revokeAll(operator, who) : revokeOne(operator, who, sessionId),
    )
    const lines = [
      `${revoked.length === 1 ? 'One session has' : `${revoked.length} sessions have`} been revoked.`,
    ]
    printData(invocation, { revoked }, lines)
    return 0
  },
}

async function listSessions({ accounts, store }: Operator, who: string): Promise<readonly Session[]> {
  const { id } = await accounts.find(who)
  return store.listSessions(id, Date.now())
}

async function revokeAll(operator: Operator, who: string): Promise<string[]> {
  const sessions = await listSessions(operator, who)
  const { id } = await operator.accounts.find(who)
  await operator.store.endSessions(id)
  return sessions.map((session) => session.id)
}

async function revokeOne(operator: Operator, who: string, sessionId: string): Promise<string[]> {
  const sessions = await listSessions(operator, who)
  if (!sessions.some(({ id }) => id === sessionId)) {
    throw new OperatorError(`the account has no open session ${sessionId}`, {
      hint: `See: gatehouse sessions list ${who}`,
    })
  }
  await operator.store.endSession(sessionId, 'revoked')
  return [sessionId]
}

function sessionData({ id, createdAt, rotatedAt, expiresAt, generation }: Session) {
  return {
    id,
    createdAt: new Date(createdAt).toISOString(),
    refreshedAt: new Date(rotatedAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
    refreshes: generation - 1,
  }
}

export const sessionCommands: readonly Command[] = [list, revoke]

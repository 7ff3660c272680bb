import { blockedSubjectData, type Subject } from '#identity/issuers/subjects.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import type { BlockedSubject } from '#store/subjects.ts'
import type { Command } from './command.ts'
import { type Operator, withOperator } from './operator.ts'
import { printData, printList } from './print.ts'

/** How many are read at once for the list. */
const pageSize = 500

const blockSubject: Command = {
  name: 'subjects block',
  operands: ['ISSUER', 'SUBJECT'],
  summary: 'Refuses all tokens of a user of a foreign issuer; its WebSockets are closed.',
  examples: ['gatehouse subjects block corp 248289761001'],
  run: async (invocation, issuer, user) => {
    const subject = { issuer, subject: user }
    const isNew = await withOperator(invocation.config, ({ subjects }) => subjects.block(subject))
    const text = isNew ? 'is blocked now' : 'was blocked already'
    printData(invocation, subject, [`${describe(subject)} ${text}.`])
  },
}

const unblockSubject: Command = {
  name: 'subjects unblock',
  operands: ['ISSUER', 'SUBJECT'],
  summary: 'Accepts the tokens of a blocked user again.',
  examples: ['gatehouse subjects unblock corp 248289761001'],
  run: async (invocation, issuer, user) => {
    const subject = { issuer, subject: user }
    const wasBlocked = await withOperator(invocation.config, ({ subjects }) => subjects.unblock(subject))
    if (!wasBlocked) {
      throw new OperatorError(`${describe(subject)} is not blocked`, { hint: 'See: gatehouse subjects list' })
    }
    printData(invocation, subject, [`${describe(subject)} is no longer blocked.`])
  },
}

const listSubjects: Command = {
  name: 'subjects list',
  summary: 'Lists the blocked users of foreign issuers, newest first.',
  examples: ['gatehouse subjects list'],
  run: async (invocation) => {
    const blocked = await withOperator(invocation.config, listAll)
    printList(invocation, blocked.map(blockedSubjectData), {
      columns: {
        ISSUER: ({ issuer }) => issuer,
        SUBJECT: ({ subject }) => subject,
        BLOCKED: ({ blockedAt }) => blockedAt,
      },
      whenEmpty: 'Nobody is blocked.',
    })
  },
}

async function listAll({ subjects }: Operator): Promise<readonly BlockedSubject[]> {
  const all: BlockedSubject[] = []
  for (let cursor: string | undefined; ; ) {
    const { items, nextCursor } = await subjects.page({ cursor, limit: pageSize })
    all.push(...items)
    if (nextCursor === undefined) return all
    cursor = nextCursor
  }
}

function describe({ issuer, subject }: Subject): string {
  return `"${subject}" of ${issuer}`
}

export const subjectCommands: readonly Command[] = [blockSubject, unblockSubject, listSubjects]

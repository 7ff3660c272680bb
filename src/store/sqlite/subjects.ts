import { subjectChange } from '../changes.ts'
import type { SubjectStore } from '../subjects.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables/tables.ts'
import type { Writer } from './writer.ts'

export function openSubjects(
  { read }: Database,
  { writeChange }: Writer,
  { subjects }: Pick<Tables, 'subjects'>,
): SubjectStore {
  return {
    findBlockedSubject: async (principalId) => read(() => subjects.find(principalId)),
    blockSubject: (blocked, audit) =>
      writeChange(() => subjects.add(blocked), subjectChange(blocked.principalId), audit),
    unblockSubject: (principalId, audit) =>
      writeChange(() => subjects.remove(principalId), subjectChange(principalId), audit),
    listBlockedSubjects: async (list) => read(() => subjects.list(list)),
  }
}

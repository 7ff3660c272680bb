import type { Command } from './command.ts'

/** The commands by their first word. Only the commands of the given word are loaded, for a fast start. */
const groups: Readonly<Record<string, () => Promise<readonly Command[]>>> = {
  init: async () => [(await import('./init/init.ts')).initCommand],
  serve: async () => [(await import('./serve.ts')).serveCommand],
  check: async () => [(await import('./check-command.ts')).checkCommand],
  explain: async () => [(await import('./explain/explain-command.ts')).explainCommand],
  accounts: async () => [
    ...(await import('./accounts/account-commands.ts')).accountCommands,
    (await import('./import/import-accounts.ts')).importCommand,
  ],
  keys: async () => (await import('./keys/key-commands.ts')).keyCommands,
  apply: async () => [(await import('./apply/apply-command.ts')).applyCommand],
  sessions: async () => (await import('./session-commands.ts')).sessionCommands,
  subjects: async () => (await import('./subject-commands.ts')).subjectCommands,
  usage: async () => (await import('./usage-commands.ts')).usageCommands,
  events: async () => (await import('./event-commands.ts')).eventCommands,
  audit: async () => (await import('./audit-commands.ts')).auditCommands,
  'sealing-key': async () => (await import('./sealing-key/rotate.ts')).sealingKeyCommands,
  'signing-keys': async () => (await import('./signing-key-commands.ts')).signingKeyCommands,
  store: async () => [
    (await import('./store/backup.ts')).backupCommand,
    (await import('./store/restore.ts')).restoreCommand,
  ],
  config: async () => (await import('./config-commands.ts')).configCommands,
  completion: async () => [(await import('./completion/completion.ts')).createCompletionCommand(allCommands)],
}

/** All commands whose name begins with a word; none if it is unknown. */
export async function commandsOf(word: string | undefined): Promise<readonly Command[]> {
  const load = word !== undefined && Object.hasOwn(groups, word) ? groups[word] : undefined
  return load ? load() : []
}

/** Every command, in the order of the help. */
export async function allCommands(): Promise<readonly Command[]> {
  return (await Promise.all(Object.values(groups).map((load) => load()))).flat()
}

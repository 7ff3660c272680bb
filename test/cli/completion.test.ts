import { execFile } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { optionsOf } from '#cli/command.ts'
import { allCommands } from '#cli/main.ts'
import { startOnTerminal } from '../setup/pty.ts'
import { run, tempFolder } from './run.ts'

// needs: bash, fish, zsh

/** What is typed, and all that is offered for its last word. */
const cases: readonly (readonly [typed: string, offered: readonly string[]])[] = [
  ['si', ['signing-keys']],
  ['a', ['accounts', 'apply', 'audit']],
  [
    'accounts ',
    ['create', 'delete', 'import', 'list', 'reset-second-factor', 'setup-link', 'show', 'unlink', 'update'],
  ],
  ['accounts d', ['delete']],
  ['accounts update ada --ver', ['--verified']],
  ['accounts update ada --verified ', ['false', 'true']],
  ['keys create ada --name ci --s', ['--scopes', '--set']],
  ['usage e', ['export']],
  ['usage ada --c', ['--config', '--csv']],
  ['usage export --f', ['--from']],
  ['completion ', ['bash', 'fish', 'zsh']],
  ['init --auth o', ['optional']],
  ['audit list --action store', ['store-restored']],
  ['accounts import peo', ['people.csv']],
  ['serve --config my', ['my.yaml']],
  ['accounts show ', []],
  ['nonsense ', []],
]

async function completionFolder(t: Test, shell: string): Promise<string> {
  const folder = tempFolder(t)
  for (const name of ['people.csv', 'my.yaml']) writeFileSync(join(folder, name), '')
  // Completion must not run the program: that would be slow, and need a config.
  writeFileSync(join(folder, 'gatehouse'), '#!/bin/sh\nkill $PPID\n')
  chmodSync(join(folder, 'gatehouse'), 0o755)
  const { status, stdout } = await run(t, ['completion', shell])
  t.equal(status, 0)
  writeFileSync(join(folder, `completion.${shell}`), stdout)
  return folder
}

async function runShell(folder: string, words: readonly [string, ...string[]]): Promise<readonly string[]> {
  const [program, ...args] = words
  const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder }
  const { stdout, stderr } = await promisify(execFile)(program, args, { cwd: folder, env })
  if (stderr !== '') throw new Error(stderr)
  return stdout.split('\n').filter((line) => line !== '')
}

t.test('bash completes commands, options, values and files', async (t) => {
  const folder = await completionFolder(t, 'bash')
  for (const [typed, offered] of cases) {
    const script = `source completion.bash
      COMP_WORDS=(gatehouse ${typed} ${typed.endsWith(' ') ? "''" : ''})
      COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
      $(complete -p gatehouse | sed 's/.*-F \\([^ ]*\\).*/\\1/')
      printf '%s\\n' "\${COMPREPLY[@]}"`
    const found = await runShell(folder, ['bash', '--norc', '-c', script])
    t.strictSame(found.toSorted(), offered, typed)
  }
})

t.test('bash on a terminal completes what is typed', async (t) => {
  const folder = await completionFolder(t, 'bash')
  const terminal = startOnTerminal(t, ['bash', '--norc', '-i'], { cwd: folder, env: { PS1: 'ready> ' } })
  await terminal.shows(/ready> /)
  terminal.type('source completion.bash\r')
  await terminal.shows(/ready> /)
  terminal.type('gatehouse sig\tro\t')
  await terminal.shows(/gatehouse signing-keys rotate /)
})

t.test('fish completes commands, options, values and files', async (t) => {
  const folder = await completionFolder(t, 'fish')
  for (const [typed, offered] of cases) {
    const script = `source completion.fish; complete -C 'gatehouse ${typed}'`
    const lines = await runShell(folder, ['fish', '--no-config', '-c', script])
    t.strictSame(lines.map((line) => line.split('\t')[0]).toSorted(), offered, typed)
  }
})

t.test('zsh on a terminal completes commands, options, values and files', async (t) => {
  const folder = await completionFolder(t, 'zsh')
  const terminal = startOnTerminal(t, ['zsh', '-f', '-i'], {
    cwd: folder,
    env: { HOME: folder, PATH: `${folder}:${process.env.PATH}` },
  })
  const setup = [
    "PS1='ready> '; unsetopt zle_bracketed_paste prompt_sp",
    'autoload -U compinit && compinit -u -d dump && source completion.zsh',
    // Shows what would be inserted, whatever the screen does meanwhile.
    "show() { print -r -- \"<$BUFFER>\"; BUFFER=''; zle reset-prompt }; zle -N show; bindkey '^X' show",
    "zstyle ':completion:*' verbose no; setopt no_list_beep; print -r -- begin-$((1 + 1))",
  ]
  for (const line of setup) terminal.type(`${line}\r`)
  await terminal.shows(/begin-2\s/)
  for (const [typed, offered] of cases.filter((one) => one[1].length === 1)) {
    terminal.type(`gatehouse ${typed}\t\u0018`)
    await terminal.shows(/<[^>]*>/)
    const shown =
      terminal
        .screen()
        .match(/<[^>\n]*>/g)
        ?.at(-1) ?? ''
    const [word = ''] = offered
    t.equal(shown.trimEnd(), `<gatehouse ${typed.slice(0, typed.lastIndexOf(' ') + 1)}${word} >`, typed)
  }
  terminal.type('gatehouse accounts update ada --verified \t')
  await terminal.shows(/false +true/)
})

t.test('every command and every option is in the completion of every shell', async (t) => {
  const commands = await allCommands()
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout } = await run(t, ['completion', shell])
    for (const command of commands) {
      t.ok(stdout.includes(command.name), `${shell}: ${command.name}`)
      for (const option of Object.keys(optionsOf(command))) {
        t.ok(stdout.includes(shell === 'fish' ? `-l ${option}` : `--${option}`), `${shell}: --${option}`)
      }
    }
  }
})

t.test('completion of a shell that is not known is a usage error', async (t) => {
  t.match(await run(t, ['completion', 'tcsh']), { status: 2, stderr: /bash, zsh, fish/ })
  t.match(await run(t, ['completion']), { status: 2, stderr: /is missing/ })
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Test } from 'tap'
import { until } from '../setup/net.ts'
import { program, textOf } from './run.ts'

/**
 * Runs code whenever the program loads a module until it is ready, from the second on: when the first is loaded, nothing
 * of it has run yet. So a signal comes at exactly this moment, however busy the machine is. Workers inherit it.
 */
export function startWithProbe(
  t: Test,
  code: string,
  { entry = program, config }: { entry?: string; config: string },
) {
  const readyFile = join(config, '../ready.json')
  const probe = `
    import { existsSync, writeFileSync } from 'node:fs'
    import { registerHooks } from 'node:module'
    let loads = -1
    registerHooks({
      load: (url, context, nextLoad) => {
        loads++
        if (loads > 0 && !existsSync(${JSON.stringify(readyFile)})) onLoad(url)
        return nextLoad(url, context)
      },
    })
    function onLoad(url) { ${code} }
  `
  const args = ['serve', '--config', config, '--ready-file', readyFile]
  const child = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(probe)}`, entry, ...args],
    {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  t.teardown(() => child.kill('SIGKILL'))
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  const ended = once(child, 'close').then(([status, signal]) => ({ status, signal, ...output }))
  const ready = () =>
    until('it is ready', () => {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`ended: ${output.stderr}`)
      const text = textOf(readyFile)
      return text === undefined ? undefined : (JSON.parse(text) as { readonly url: string })
    })
  return { child, ended, ready, output }
}

export const signalAll = (signal: string) => `process.kill(process.pid, '${signal}')`

import { loadConfig } from '#config/load.ts'
import type { Command } from './command.ts'
import { explain } from './explain/explain.ts'
import type { Explanation, ShownHeader, Step } from './explain/explanation.ts'
import { openReadOnlyAuth } from './explain/read-only-auth.ts'
import { redactTarget } from './explain/redact.ts'
import { columns } from './help.ts'
import { parseExplainedRequest } from './parse-explained-request.ts'
import { printData } from './print.ts'

export const explainCommand: Command = {
  name: 'explain',
  operands: ['METHOD', 'URL'],
  summary: 'Explains step by step how the gateway would handle a request; sends nothing.',
  examples: [
    'gatehouse explain GET /orders/7',
    "gatehouse explain GET /orders/7 -H 'SecretKey: gate_sk_…' --from 203.0.113.7",
  ],
  options: {
    header: {
      type: 'string',
      multiple: true,
      short: 'H',
      value: 'LINE',
      help: "A header of the request: -H 'Name: value'; may be repeated.",
    },
    from: {
      type: 'string',
      value: 'ADDRESS',
      help: 'Address that the connection comes from; default 127.0.0.1.',
    },
    decide: {
      type: 'boolean',
      help: 'Explains what the decide listener tells a proxy that asks about this request.',
    },
  },
  printsData: true,
  run: async (invocation) => {
    const [method = '', url = ''] = invocation.operands
    const lines = invocation.texts('header')
    const asked = parseExplainedRequest({ method, url, lines, peer: invocation.text('from') ?? '127.0.0.1' })
    const { config } = loadConfig(invocation.config)
    const { hasHost, ...request } = asked
    const host = hasHost ? [] : ['Host', new URL(config.publicOrigin).host]
    const callers = openReadOnlyAuth(config, Date.now)
    try {
      const listener = invocation.flag('decide') ? 'decide' : 'main'
      const whole = { ...request, listener, rawHeaders: [...host, ...request.rawHeaders] } as const
      const explanation = await explain(whole, config, callers)
      printData(invocation, explanation, [`${method} ${redactTarget(url)}`, ...linesOf(explanation)])
    } finally {
      await callers.close()
    }
    return 0
  },
}

function linesOf({ decision, status, code, route, steps }: Explanation): readonly string[] {
  const rows = steps.map(
    ({ step, outcome, detail }) => [step, `${outcome === 'passed' ? 'ok' : 'NO'}  ${detail}`] as const,
  )
  const verdicts = {
    forward: `forward: route "${route}"`,
    answer: 'answer: by the gateway itself',
    refuse: `refuse: ${status} ${code}`,
  }
  return [
    ...columns(rows),
    ...headersOf(steps).map(({ name, value }) => `      ${name}: ${value}`),
    ...checkOf(steps),
    verdicts[decision],
  ]
}

function headersOf(steps: readonly Step[]): readonly ShownHeader[] {
  const headers = steps.at(-1)?.facts.headers
  // The cast is sound: only explain creates steps, and its headers have this type.
  return Array.isArray(headers) ? (headers as readonly ShownHeader[]) : []
}

function checkOf(steps: readonly Step[]): readonly string[] {
  const check = steps.at(-1)?.facts.check
  return typeof check === 'string' ? [`  check: ${check}`] : []
}

import { amount, milliseconds, perSecond, share, span } from '../pages/amounts.ts'
import { card } from '../pages/card.ts'
import { type Content, type Html, html, trusted } from '../pages/html.ts'
import { icon, mark } from '../pages/icons.ts'
import { type BadgeKind, badge, remark } from '../pages/notice.ts'
import { exact } from '../pages/time.ts'
import type { Figures } from './figures.ts'
import { plots } from './plots.ts'
import type { Status, TargetState } from './status.ts'
import { type Cell, table } from './table.ts'

/** Style and script inside the page, which loads nothing else. */
export interface Inlined {
  readonly style: string
  readonly script: string
}

const states = {
  ok: ['good', 'ok'],
  degraded: ['warn', 'degraded'],
  'store-unavailable': ['bad', 'the store is out of reach'],
  'shutting-down': ['warn', 'shutting down'],
} as const satisfies Record<Status['status'], readonly [BadgeKind, string]>

/** The figures as a page for people: of the last minute if they are known, else since the start. */
export function statusPage(status: Status, { style, script }: Inlined): Html {
  const { recent, sinceStart } = status
  const figures = recent ?? sinceStart
  const seconds = recent?.seconds ?? status.uptimeS
  const [kind, words] = states[status.status]
  const stretch = recent ? `for the last ${span(recent.seconds)}` : 'since the start'
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Status · Gatehouse</title>
<style>${trusted(style)}</style>
<link rel="icon" href="${trusted(mark)}">
<noscript><meta http-equiv="refresh" content="10"></noscript>
<script type="module">${trusted(script)}</script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<div class="status">
<header class="bar"><span class="brand">${icon('gate')}Gatehouse</span><span class="muted small">${status.version}</span></header>
<main id="main" tabindex="-1">
<div class="top"><div><h1>Status</h1><p>Figures ${stretch}, at ${exact(Date.parse(status.at))}.</p></div><div class="row">${badge(kind, words)}${
    !status.lastReloadSuccessful && badge('bad', 'the last reload was refused')
  }</div></div>
<div class="stack">
<p class="said" data-said role="status" hidden></p>
${status.status === 'degraded' && !status.store.isUp && remark('warn', 'The store is out of reach: known callers are served, all others and all changes get 503.')}
${tiles(status, figures, seconds)}
${plots(status.series, Date.parse(status.at))}
${routes(figures, seconds)}
${refusals(figures)}
${upstreams(status, figures)}
${targets(status)}
${store(status, figures)}
</div>
</main></div>
</body>
</html>
`
}

function tiles(status: Status, figures: Figures, seconds: number): Html {
  const { workers, inFlight, webSocketsOpen, uptimeS } = status
  const all: readonly (readonly [what: string, value: string, unit?: string])[] = [
    ['Requests', perSecond(figures.requests, seconds), 'a second'],
    ['Refused', share(figures.refused, figures.requests), '401, 403, 429'],
    ['Failed', share(figures.failed, figures.requests), '5xx'],
    ['Latency', milliseconds(figures.latencyMs?.p50), `p99 ${milliseconds(figures.latencyMs?.p99)}`],
    ['Own share', milliseconds(figures.overheadMs?.p50), `p99 ${milliseconds(figures.overheadMs?.p99)}`],
    ['Under way', amount(inFlight), 'requests'],
    ['WebSockets', amount(webSocketsOpen), 'open'],
    ['Up', span(uptimeS), workers === 1 ? 'one worker' : `${amount(workers)} workers`],
  ]
  return html`<dl class="tiles">${all.map(
    ([what, value, unit]) => html`<div><dt>${what}</dt><dd>${value} <small>${unit}</small></dd></div>`,
  )}</dl>`
}

function routes({ routes }: Figures, seconds: number): Html {
  const head = ['Route', 'Requests', 'A second', 'Refused', 'Other 4xx', '5xx', 'p50', 'p95', 'p99']
  const rows = routes.map(({ name, requests, refused, clientErrors, failed, latencyMs }): readonly Cell[] => [
    { content: html`<code>${name}</code>` },
    number(requests),
    { content: perSecond(requests, seconds), kind: 'number' },
    number(refused, 'warn'),
    number(clientErrors),
    number(failed, 'bad'),
    ...latencies(latencyMs),
  ])
  return card({ title: 'Routes', isFlush: true, body: table(head, rows) })
}

function refusals({ refusals }: Figures): Html | undefined {
  if (refusals.length === 0) return undefined
  const rows = refusals.map(({ scheme, code, count }): readonly Cell[] => [
    { content: html`<code>${code}</code>` },
    { content: scheme },
    number(count),
  ])
  return card({ title: 'Refusals', isFlush: true, body: table(['Why', 'Scheme', 'Requests'], rows) })
}

function upstreams({ upstreams }: Status, figures: Figures): Html {
  const rows = upstreams.map(({ name, targets }): readonly Cell[] => {
    const { requests = 0, latencyMs = null } = figures.upstreams.find((one) => one.name === name) ?? {}
    const out = targets.filter(({ isHealthy }) => isHealthy === false).length
    return [
      { content: html`<code>${name}</code>` },
      { content: out === 0 ? amount(targets.length) : `${amount(targets.length)}, ${amount(out)} out` },
      number(requests),
      ...latencies(latencyMs),
    ]
  })
  const head = ['Upstream', 'Targets', 'Requests', 'p50', 'p95', 'p99']
  return card({ title: 'Upstreams', isFlush: true, body: table(head, rows) })
}

function targets({ upstreams }: Status): Html {
  const rows = upstreams.flatMap(({ name, targets }) =>
    targets.map((target): readonly Cell[] => [
      { content: html`<code>${name}</code>` },
      { content: html`<code>${target.url}</code>` },
      { content: stateOf(target) },
      number(target.weight),
    ]),
  )
  return card({
    title: 'Targets',
    isFlush: true,
    body: table(['Upstream', 'Target', 'Health', 'Weight'], rows),
  })
}

function stateOf({ isHealthy }: TargetState): Content {
  if (isHealthy === null) return badge('plain', 'not watched')
  return isHealthy ? badge('good', 'healthy') : badge('bad', 'out')
}

function store(
  { store: { driver, isUp, isWritable, writesRefused, risks } }: Status,
  { cache, revocationDelayMs, tokensIssued }: Figures,
): Html {
  const { hits, negativeHits, misses, stale } = cache
  const all: readonly (readonly [what: string, value: string, more: string])[] = [
    ['Answered from the cache', share(hits + negativeHits + stale, hits + negativeHits + stale + misses), ''],
    ['Looked up in the store', amount(misses), ''],
    ['Known not to exist', amount(negativeHits), ''],
    ['Served without the store', amount(stale), ''],
    ['Tokens issued', amount(tokensIssued), ''],
    [
      'A change takes effect in',
      milliseconds(revocationDelayMs?.p50),
      `p99 ${milliseconds(revocationDelayMs?.p99)}`,
    ],
  ]
  return card({
    title: 'Store and cache',
    aside: [
      badge(isUp ? 'good' : 'bad', isUp ? `${driver} answers` : `${driver} does not answer`),
      isUp && !isWritable && badge('bad', 'takes no writes'),
    ],
    isFlush: true,
    body: html`<div class="body">${
      writesRefused !== null &&
      remark('bad', `Tokens, sessions, accounts and keys cannot be changed: ${writesRefused}`)
    }${risks.map((risk) => remark('warn', risk))}<dl class="tiles">${all.map(
      ([what, value, more]) => html`<div><dt>${what}</dt><dd>${value} <small>${more}</small></dd></div>`,
    )}</dl></div>`,
  })
}

function number(value: number, kindWhereThereIsOne?: 'warn' | 'bad'): Cell {
  const kind = value > 0 && kindWhereThereIsOne !== undefined ? `number ${kindWhereThereIsOne}` : 'number'
  return { content: amount(value), kind }
}

function latencies(latencyMs: Figures['latencyMs']): readonly Cell[] {
  return [latencyMs?.p50, latencyMs?.p95, latencyMs?.p99].map((value) => ({
    content: milliseconds(value),
    kind: 'number',
  }))
}

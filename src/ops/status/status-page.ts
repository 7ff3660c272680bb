import {
  exactTime,
  formatCount,
  formatDuration,
  formatMilliseconds,
  formatPercent,
  formatRate,
} from '#platform/pages/format.ts'
import {
  type BadgeKind,
  badge,
  type Content,
  card,
  faviconUrl,
  type Html,
  html,
  icon,
  rawHtml,
  staticNotice,
} from '#platform/pages/html.ts'
import type { Figures } from './figures.ts'
import { plotsCard } from './plots.ts'
import type { ShownTarget, Status } from './status.ts'
import { type Cell, latencyCells, listenersCard, numberCell, routesCard, table } from './status-tables.ts'

/** Style and script inside the page, which loads nothing else. */
interface InlineAssets {
  readonly style: string
  readonly script: string
}

const statusLabels = {
  ok: ['good', 'ok'],
  degraded: ['warn', 'degraded'],
  'store-unavailable': ['bad', 'credential store unavailable'],
  'shutting-down': ['warn', 'shutting down'],
} as const satisfies Record<Status['status'], readonly [BadgeKind, string]>

/** The figures as a page for people: of the last minute if there is a sample, else since the start. */
export function statusPage(status: Status, { style, script }: InlineAssets): Html {
  const { recent, sinceStart } = status
  const figures = recent ?? sinceStart
  const seconds = recent?.seconds ?? status.uptimeS
  const [kind, label] = statusLabels[status.status]
  const period = recent ? `Last ${formatDuration(recent.seconds)}` : 'Since start'
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Status · Gatehouse</title>
<style>${rawHtml(style)}</style>
<link rel="icon" href="${rawHtml(faviconUrl)}">
<noscript><meta http-equiv="refresh" content="10"></noscript>
<script type="module">${rawHtml(script)}</script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<div class="status">
<header class="bar"><span class="brand">${icon('gate')}Gatehouse</span><span class="muted small">${status.version}</span></header>
<main id="main" tabindex="-1">
<div class="top"><div><h1>Status</h1><p>${period}, as of ${exactTime(Date.parse(status.at))}.</p></div><div class="row">${badge(kind, label)}${
    !status.lastReloadSuccessful && badge('bad', 'last reload failed')
  }</div></div>
<div class="stack">
<p class="message" data-message role="status" hidden></p>
${status.status === 'degraded' && !status.store.isUp && staticNotice('warn', 'Credential store unavailable: cached callers are served; other callers and all writes get 503.')}
${overviewTiles(status, figures, seconds)}
${plotsCard(status.series, Date.parse(status.at))}
${listenersCard(figures, seconds)}
${routesCard(figures, seconds)}
${refusalsCard(figures)}
${upstreamsCard(status, figures)}
${targetsCard(status)}
${storeCard(status, figures)}
</div>
</main></div>
</body>
</html>
`
}

/** Empty if all requests came by HTTP/1. */
function shareOfHttp2({ versions, requests }: Figures): string {
  const { '2': count = 0 } = versions
  return count > 0 ? `, ${formatPercent(count, requests)} HTTP/2` : ''
}

function overviewTiles(status: Status, figures: Figures, seconds: number): Html {
  const { workers, inFlight, webSocketsOpen, uptimeS } = status
  const all: readonly Tile[] = [
    ['Requests', formatRate(figures.requests, seconds), `per second${shareOfHttp2(figures)}`],
    ['Refused', formatPercent(figures.refused, figures.requests), '401, 403, 429'],
    ['Failed', formatPercent(figures.failed, figures.requests), '5xx'],
    latencyTile('Latency', figures.latencyMs, 'of all requests'),
    latencyTile('Gateway overhead', figures.overheadMs, 'of forwarded requests'),
    ['In flight', formatCount(inFlight), 'requests'],
    ['WebSockets', formatCount(webSocketsOpen), 'open'],
    ['Uptime', formatDuration(uptimeS), workers === 1 ? '1 worker' : `${formatCount(workers)} workers`],
  ]
  return tiles(all)
}

/** @param which the requests that are counted, as all may have a lower median than those that are forwarded */
function latencyTile(what: string, latency: Figures['latencyMs'], which?: string): Tile {
  const p99 = `p99 ${formatMilliseconds(latency?.p99)}`
  return [what, formatMilliseconds(latency?.p50), which === undefined ? p99 : `${p99}, ${which}`]
}

type Tile = readonly [what: string, value: string, unit?: string]

function tiles(all: readonly Tile[]): Html {
  return html`<dl class="tiles">${all.map(
    ([what, value, unit]) => html`<div><dt>${what}</dt><dd>${value} <small>${unit}</small></dd></div>`,
  )}</dl>`
}

function refusalsCard({ refusals }: Figures): Html | undefined {
  if (refusals.length === 0) return undefined
  const rows = refusals.map(({ scheme, code, count }): readonly Cell[] => [
    { content: html`<code>${code}</code>` },
    { content: scheme },
    numberCell(count),
  ])
  return card({ title: 'Refusals', isFlush: true, body: table(['Reason', 'Scheme', 'Requests'], rows) })
}

function upstreamsCard({ upstreams }: Status, figures: Figures): Html {
  const rows = upstreams.map(({ name, targets }): readonly Cell[] => {
    const { requests = 0, latencyMs = null } = figures.upstreams.find((one) => one.name === name) ?? {}
    const unhealthy = targets.filter(({ isHealthy }) => isHealthy === false).length
    return [
      { content: html`<code>${name}</code>` },
      {
        content:
          unhealthy === 0
            ? formatCount(targets.length)
            : `${formatCount(targets.length)}, ${formatCount(unhealthy)} unhealthy`,
      },
      numberCell(requests),
      ...latencyCells(latencyMs),
    ]
  })
  const head = ['Upstream', 'Targets', 'Requests', 'p50', 'p95', 'p99']
  return card({ title: 'Upstreams', isFlush: true, body: table(head, rows) })
}

function targetsCard({ upstreams }: Status): Html {
  const rows = upstreams.flatMap(({ name, targets }) =>
    targets.map((target): readonly Cell[] => [
      { content: html`<code>${name}</code>` },
      { content: html`<code>${target.url}</code>${addressesOf(target)}` },
      { content: healthBadge(target) },
      numberCell(target.weight),
    ]),
  )
  return card({
    title: 'Targets',
    isFlush: true,
    body: table(['Upstream', 'Target', 'Health', 'Weight'], rows),
  })
}

function addressesOf({ addresses }: ShownTarget): string {
  if (addresses === null) return ''
  const { healthy, ejected } = addresses
  const all = healthy + ejected
  const count = all === 1 ? ' 1 address' : ` ${formatCount(all)} addresses`
  return ejected === 0 ? count : `${count}, ${formatCount(ejected)} unhealthy`
}

function healthBadge({ isHealthy }: ShownTarget): Content {
  if (isHealthy === null) return badge('plain', 'not checked')
  return isHealthy ? badge('good', 'healthy') : badge('bad', 'unhealthy')
}

function storeCard(
  { store: { driver, isUp, isWritable, writesRefused, risks } }: Status,
  { cache, revocationDelayMs, tokensIssued }: Figures,
): Html {
  const { hits, negativeHits, misses, stale } = cache
  const all: readonly Tile[] = [
    ['Cache hit ratio', formatPercent(hits + negativeHits + stale, hits + negativeHits + stale + misses)],
    ['Store lookups', formatCount(misses)],
    ['Negative cache hits', formatCount(negativeHits)],
    ['Served stale', formatCount(stale)],
    ['Tokens issued', formatCount(tokensIssued)],
    latencyTile('Revocation delay', revocationDelayMs),
  ]
  return card({
    title: 'Store and cache',
    aside: [
      badge(isUp ? 'good' : 'bad', isUp ? `${driver} up` : `${driver} down`),
      isUp && !isWritable && badge('bad', 'read-only'),
    ],
    isFlush: true,
    body: html`<div class="body">${
      writesRefused !== null && staticNotice('bad', `Writes are rejected: ${writesRefused}`)
    }${risks.map((risk) => staticNotice('warn', risk))}${tiles(all)}</div>`,
  })
}

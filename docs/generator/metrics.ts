import { openMetrics } from '#ops/metrics/metrics.ts'

/** The reference of the gateway's own metrics, generated from the instruments. */
export async function metricsPage(): Promise<string> {
  const described = await openMetrics({ version: '' }).describe()
  const own = described.filter(({ name }) => name.startsWith('gatehouse_'))
  return [
    '# Metrics',
    '',
    '`/metrics` on the ops listener returns these metrics in the Prometheus text format, or as OpenMetrics to scrapers',
    'that prefer it (`Accept`), as Prometheus does. Label values come from',
    'closed sets: never a path, key, account or address of a client. `target` is an origin, as configured. The',
    'response also has the metrics of Node itself (`nodejs_…`, `process_…`).',
    '',
    '| metric | type | labels | meaning |',
    '|---|---|---|---|',
    ...own.map(
      ({ name, type, help, labelNames }) =>
        `| \`${name}\` | ${type} | ${labelNames.map((label) => `\`${label}\``).join(' ')} | ${help} |`,
    ),
    '',
  ].join('\n')
}

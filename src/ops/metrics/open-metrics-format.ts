import type { Exemplar } from './histogram.ts'

/** The media type of OpenMetrics 1.0. */
export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/** Whether a scraper prefers OpenMetrics to the Prometheus text format. @param accept its Accept field */
export function prefersOpenMetrics(accept: string): boolean {
  const ranges = accept.toLowerCase().split(',')
  const weightOf = (type: string) =>
    Math.max(0, ...ranges.filter((range) => range.trim().startsWith(type)).map(qualityOf))
  return weightOf('application/openmetrics-text') > weightOf('text/plain')
}

function qualityOf(range: string): number {
  const [, quality = '1'] = /;\s?q=([\d.]{1,5})/.exec(range) ?? []
  return Number(quality)
}

/**
 * The same exposition as OpenMetrics 1.0, with exemplars, which the text format of Prometheus has no place for.
 * @param text in that format
 * @param exemplars by series, as the text has it: `name_bucket{le="1",route="a"}`
 */
export function toOpenMetrics(text: string, exemplars: ReadonlyMap<string, Exemplar>): string {
  const lines: string[] = []
  for (const line of text.split('\n')) {
    if (line.startsWith('# ')) lines.push(withFamilyName(line))
    else if (line.includes('_bucket{')) lines.push(withExemplar(line, exemplars))
    else if (line !== '') lines.push(line)
  }
  lines.push('# EOF\n')
  return lines.join('\n')
}

/** In OpenMetrics, only the samples of a counter have `_total`, not its name; quotes are escaped. */
function withFamilyName(line: string): string {
  const [hash = '', keyword = '', name = '', ...rest] = line.split(' ')
  return [hash, keyword, name.replace(/_total$/, ''), rest.join(' ').replaceAll('"', '\\"')].join(' ')
}

/** A bound is written as a number with a fraction or an exponent: the same in every exposition. */
function withExemplar(line: string, exemplars: ReadonlyMap<string, Exemplar>): string {
  const sample = line.replace(/([{,]le="\d+)"/, '$1.0"')
  const exemplar = exemplars.size === 0 ? undefined : exemplars.get(line.slice(0, line.lastIndexOf(' ')))
  if (!exemplar) return sample
  const { traceId, value, at } = exemplar
  return `${sample} # {trace_id="${traceId}"} ${value} ${at / 1_000}`
}

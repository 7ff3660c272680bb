/** PromQL of the dashboard: every series is that of the selected job and instances. */

const chosen = 'job="$job", instance=~"$instance"'

/** @param matchers further ones, in PromQL: `code=~"5.."` */
export function series(metric: string, matchers?: string): string {
  return `${metric}{${matchers === undefined ? chosen : `${chosen}, ${matchers}`}}`
}

/** The rate of a counter per second, summed over the instances. */
export function rateOf(counter: string, by: readonly string[] = [], matchers?: string): string {
  return `sum${byWords(by)}(rate(${series(counter, matchers)}[$__rate_interval]))`
}

/** The increase of a counter between two points of the graph, summed over the instances. */
export function increaseOf(counter: string, by: readonly string[] = []): string {
  return `sum${byWords(by)}(increase(${series(counter)}[$__rate_interval]))`
}

/** A quantile of a histogram, over all instances. */
export function quantileOf(quantile: number, histogram: string, by: readonly string[] = []): string {
  return `histogram_quantile(${quantile}, ${rateOf(`${histogram}_bucket`, ['le', ...by])})`
}

function byWords(labels: readonly string[]): string {
  return labels.length === 0 ? ' ' : ` by (${labels.join(', ')}) `
}

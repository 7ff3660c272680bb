import { type Html, html, rawHtml } from '#platform/pages/html.ts'

/** One line of a plot. */
export interface Line {
  readonly name: string
  /** Null where nothing was measured: the line has a gap there. */
  readonly values: readonly (number | null)[]
}

export interface Plot {
  /** Unique on the page. */
  readonly id: string
  readonly title: string
  /** A description for screen readers. */
  readonly description: string
  /** At most 5. */
  readonly lines: readonly Line[]
  /** When the values were measured, and the period that the plot covers; milliseconds since 1970. */
  readonly times: readonly number[]
  readonly from: number
  readonly to: number
  /** As text, with the unit. */
  format(value: number): string
}

/** The view box, which is stretched to fit: only lines are drawn in it, text is HTML beside it. */
const width = 1_000
const height = 200

/** A line plot over time as SVG, with a scale and a legend. */
export function plot({ id, title, description, lines, times, from, to, format }: Plot): Html {
  const max = roundUp(Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0))))
  const toX = (time: number) => Math.round(((time - from) / (to - from)) * width)
  const toY = (value: number) => Math.round((height - (value / max) * height) * 10) / 10
  return html`<figure class="plot">
<figcaption>${title}</figcaption>
<div class="plane">
<div class="scale"><span>${format(max)}</span><span>${format(max / 2)}</span><span>0</span></div>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-labelledby="${id}-title ${id}-text"><title id="${id}-title">${title}</title><desc id="${id}-text">${description}</desc>
<path class="grid" d="M0 0H${width}M0 ${height / 2}H${width}M0 ${height}H${width}"/>
${lines.map(({ values }, index) => rawHtml(`<path class="line line-${index + 1}" d="${path(values)}"/>`))}</svg>
<div class="times">${[0, 0.25, 0.5, 0.75, 1].map((share) => html`<span>${clockTime(from + (to - from) * share)}</span>`)}</div>
</div>
<ul class="legend">${lines.map(
    ({ name, values }, index) =>
      html`<li><svg viewBox="0 0 24 8" aria-hidden="true"><path class="line line-${index + 1}" d="M0 4H24"/></svg>${name} <span class="muted">${latest(values)}</span></li>`,
  )}</ul>
</figure>`

  function path(values: readonly (number | null)[]): string {
    let isPenDown = false
    return values
      .map((value, index) => {
        const at = `${toX(times[index] ?? to)} ${toY(value ?? 0)}`
        const step = value === null ? '' : isPenDown ? `L${at}` : `M${at}h.1`
        isPenDown = value !== null
        return step
      })
      .join('')
  }

  function latest(values: readonly (number | null)[]): string {
    const value = values.at(-1)
    return value === null || value === undefined ? '–' : format(value)
  }
}

/** The next of 1, 2, 5, 10, 20, …; 1 for 0. */
function roundUp(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find((step) => value <= step * power) ?? 10) * power
}

/** Such as `14:05`, in UTC. */
export function clockTime(at: number): string {
  return new Date(at).toISOString().slice(11, 16)
}

/** One sample of the Prometheus text format. */
interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Exposition {
  readonly samples: readonly Sample[]
  /** Type of each metric. */
  readonly types: ReadonlyMap<string, string>
  /** Sum of the samples with this name and at least these labels; 0 where there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number
}

// Prometheus reads NaN in any case, and prom-client writes it its own way.
const sampleLine =
  /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|Na[Nn])$/
const labelPair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,|$)/y

/** Reads the Prometheus text format 0.0.4 strictly. @throws where a line is none of its lines */
export function parseExposition(text: string): Exposition {
  const samples: Sample[] = []
  const types = new Map<string, string>()
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  for (const line of text.split('\n')) {
    const [, typed, type] = /^# TYPE ([\w:]+) (counter|gauge|histogram|summary)$/.exec(line) ?? []
    if (typed !== undefined && type !== undefined) {
      if (types.has(typed)) throw new Error(`two types for ${typed}`)
      types.set(typed, type)
    } else if (line !== '' && !/^# HELP [\w:]+ \S/.test(line)) samples.push(parseSample(line))
  }
  return { samples, types, value: (name, labels = {}) => sumOf(samples, name, labels) }
}

function parseSample(line: string): Sample {
  const [, name, text = '', value] = sampleLine.exec(line) ?? []
  if (name === undefined) throw new Error(`no sample: ${line}`)
  const labels: Record<string, string> = {}
  labelPair.lastIndex = 0
  while (labelPair.lastIndex < text.length) {
    const [, label, content] = labelPair.exec(text) ?? []
    if (label === undefined) throw new Error(`no labels: ${line}`)
    labels[label] = content ?? ''
  }
  return { name, labels, value: Number(value?.replace('Inf', 'Infinity').replace('Nan', 'NaN')) }
}

function sumOf(samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>>): number {
  const found = samples.filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
  )
  return found.reduce((sum, { value }) => sum + value, 0)
}

/** What the ops listener exposes now. */
export async function readMetrics(opsUrl: string): Promise<Exposition> {
  return parseExposition(await (await fetch(`${opsUrl}/metrics`)).text())
}

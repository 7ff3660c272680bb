import { Counter, Gauge, type GaugeConfiguration, type LabelValues, type Registry } from 'prom-client'
import { FastHistogram } from './histogram.ts'
import { FastCounter, type InstrumentOptions, register } from './instrument.ts'

type CounterOptions<Label extends string> = Omit<ConstructorParameters<typeof Counter<Label>>[0], 'registers'>
type GaugeOptions<Label extends string> = Omit<GaugeConfiguration<Label>, 'registers' | 'collect'>

export type InstrumentMaker = ReturnType<typeof createInstrumentMaker>

/** Makes instruments, and registers each. */
export function createInstrumentMaker(registry: Registry) {
  const registers = [registry]

  function registered<Fast extends FastCounter | FastHistogram>(instrument: Fast): Fast {
    register(registry, [instrument])
    return instrument
  }

  return {
    counter: <Label extends string>(options: CounterOptions<Label>) =>
      new Counter<Label>({ ...options, registers }),
    gauge: <Label extends string>(options: GaugeOptions<Label>) =>
      new Gauge<Label>({ ...options, registers }),
    fastCounter: (options: InstrumentOptions) => registered(new FastCounter(options)),
    fastHistogram: (options: ConstructorParameters<typeof FastHistogram>[0]) =>
      registered(new FastHistogram(options)),
    /**
     * A gauge that is read at each scrape.
     * @param read the value of each series; those that it no longer returns, as after a reload, disappear
     */
    readGauge: <Label extends string = never>(
      options: GaugeOptions<Label>,
      read: () => number | Iterable<readonly [labels: LabelValues<Label>, value: number]>,
    ) => {
      new Gauge<Label>({
        ...options,
        registers,
        collect() {
          const found = read()
          if (typeof found === 'number') return this.set(found)
          this.reset()
          for (const [labels, value] of found) this.set(labels, value)
        },
      })
    },
  }
}

/** What a gauge reads, from something that is opened after the gauge. @param value until then */
export function createSource<Value>(value: Value) {
  let current = () => value
  return {
    read: () => current(),
    set: (read: () => Value): void => {
      current = read
    },
  }
}

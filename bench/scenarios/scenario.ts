import type { Bench } from '../bench.ts'

/** Numbers of one run, by the name of the figure. */
export type Figures = Readonly<Record<string, number>>

/** What a figure is, for whoever reads it. */
export interface FigureKind {
  readonly title: string
  readonly digits: number
}

/** Someone who takes part in a scenario. */
export interface Contestant {
  readonly name: string
  measure(): Promise<Figures>
}

export interface Scenario {
  readonly summary: string
  readonly figures: Readonly<Record<string, FigureKind>>
  /** The figure that is compared, run by run, with that of others. */
  readonly compared: string
  /** The names of those that all are compared with. */
  readonly yardsticks: readonly string[]
  /** What a reader must know; a sentence or two. */
  readonly note: string
  /** Everyone, in the order in which they take turns. */
  open(bench: Bench): Promise<readonly Contestant[]>
}

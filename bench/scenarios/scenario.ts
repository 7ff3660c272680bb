import type { Bench } from '../bench.ts'

/** Numbers of one run, by the name of the figure. */
export type Figures = Readonly<Record<string, number>>

/** The description of a figure. */
export interface FigureKind {
  readonly title: string
  readonly digits: number
}

/** A contestant of a scenario. */
export interface Contestant {
  readonly name: string
  measure(): Promise<Figures>
}

export interface Scenario {
  readonly summary: string
  readonly figures: Readonly<Record<string, FigureKind>>
  /** The figure that is compared, run by run, with that of other contestants. */
  readonly compared: string
  /** The names of the contestants that all are compared with. */
  readonly yardsticks: readonly string[]
  /** What a reader must know; a sentence or two. */
  readonly note: string
  /** What makes the load, where it is not what the command line says. */
  readonly load?: { readonly by: string; readonly connections: number }
  /** Whether each turn counts: it starts a process of its own, or all are warm once the scenario is open. */
  readonly skipsWarmUp?: boolean
  /** All contestants, in the order of their turns. */
  open(bench: Bench): Promise<readonly Contestant[]>
}

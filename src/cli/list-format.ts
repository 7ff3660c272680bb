import { type Columns, columnWidths, tableCells, tableRow } from './print.ts'

/** The text of a list whose items come in batches, as all of them may not fit into memory. */
export interface ListFormat<Item> {
  batch(items: readonly Item[]): string
  /** After the last batch. */
  end(): string
}

/** One list in JSON. */
export function createJsonFormat<Item>(dataOf: (item: Item) => unknown): ListFormat<Item> {
  let isEmpty = true
  return {
    batch: (items) => {
      if (items.length === 0) return ''
      const texts = items.map((item) => JSON.stringify(dataOf(item), undefined, 2).replaceAll(/^/gm, '  '))
      const start = isEmpty ? '[' : ','
      isEmpty = false
      return `${start}\n${texts.join(',\n')}`
    },
    end: () => (isEmpty ? '[]\n' : '\n]\n'),
  }
}

/** A table whose columns are wide enough for the first batch, and for the widest cells that are known. */
export function createTableFormat<Item>({
  columns,
  widest = [],
  whenEmpty,
}: {
  readonly columns: Columns<Item>
  readonly widest?: readonly string[]
  readonly whenEmpty: string
}): ListFormat<Item> {
  let widths: readonly number[] | undefined
  return {
    batch: (items) => {
      const rows = tableCells(items, columns)
      const heading = widths ? [] : [Object.keys(columns)]
      const shown = widths ?? columnWidths([...heading, widest, ...rows])
      widths = shown
      return [...heading, ...rows].map((row) => `${tableRow(row, shown)}\n`).join('')
    },
    end: () => (widths ? '' : `${whenEmpty}\n`),
  }
}

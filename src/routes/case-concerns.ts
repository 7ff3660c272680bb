import type { RouteTable } from './table.ts'

/**
 * Names of the routes on which some paths are refused because a backend that ignores case would read one of another
 * route in them: those with others below them that do not say `caseSensitive`.
 */
export function routesWithCaseRefusals({ groups, ambiguityIndex }: RouteTable<unknown>): readonly string[] {
  return groups
    .filter((group) => ambiguityIndex.hasConflicts(group))
    .flatMap(({ routes }) => routes.filter(({ isCaseSensitive }) => !isCaseSensitive))
    .map(({ name }) => name)
}

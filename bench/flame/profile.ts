/** The part of a V8 CPU profile that is drawn (as `--cpu-prof` writes it). */
export interface CpuProfile {
  /** Microseconds of the clock that process.hrtime has too. */
  readonly startTime: number
  readonly nodes: readonly ProfileNode[]
  /** Node by node what was on top of the stack, sample by sample. */
  readonly samples: readonly number[]
  /** Microseconds between a sample and the previous one. */
  readonly timeDeltas: readonly number[]
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  readonly children?: readonly number[]
}

/** One function below its callers. */
export interface Frame {
  readonly name: string
  /** Its location; empty for native code. */
  readonly place: string
  /** Microseconds in it and in all that it calls. */
  readonly totalUs: number
  /** The longest first. */
  readonly callees: readonly Frame[]
}

/** The part of a profile that is drawn. */
export interface Window {
  /** On that clock; samples before and after are left out. */
  readonly fromUs: number
  readonly toUs: number
  /** Paths are shown from this folder on. */
  readonly root: string
}

/** Turns samples into a tree; time in which the process was idle is left out. */
export function readProfile(profile: CpuProfile, window: Window): Frame {
  const { nodes } = profile
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const selfUs = sumOfSamples(profile, window)
  function frameOf(node: ProfileNode): Frame {
    const { functionName, url, lineNumber } = node.callFrame
    const callees = (node.children ?? [])
      .flatMap((id) => byId.get(id) ?? [])
      .filter(({ callFrame }) => callFrame.functionName !== '(idle)')
      .map(frameOf)
      .filter(({ totalUs }) => totalUs > 0)
      .toSorted((a, b) => b.totalUs - a.totalUs)
    return {
      name: functionName || '(anonymous)',
      place:
        url === '' ? '' : `${url.replace('file://', '').replace(`${window.root}/`, '')}:${lineNumber + 1}`,
      totalUs: (selfUs.get(node.id) ?? 0) + callees.reduce((sum, { totalUs }) => sum + totalUs, 0),
      callees,
    }
  }
  const [first] = nodes
  if (!first) throw new Error('a profile without nodes')
  return frameOf(first)
}

/** Microseconds for which each node was on top. */
function sumOfSamples(
  { startTime, samples, timeDeltas }: CpuProfile,
  { fromUs, toUs }: Window,
): ReadonlyMap<number, number> {
  const selfUs = new Map<number, number>()
  let now = startTime
  for (const [index, id] of samples.entries()) {
    const deltaUs = timeDeltas[index] ?? 0
    now += deltaUs
    if (now >= fromUs && now <= toUs) selfUs.set(id, (selfUs.get(id) ?? 0) + deltaUs)
  }
  return selfUs
}

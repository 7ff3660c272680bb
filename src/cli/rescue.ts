import { UnconfirmedKeys } from '../accounts/make-key.ts'

/** New keys, and why the change that made them may not last; undefined = it lasts. */
export interface Rescued<Made> {
  readonly made: Made
  readonly doubt: UnconfirmedKeys | undefined
}

/** Waits for work that makes keys: keeps those of an uncertain change, as they could not be shown again. */
export async function rescueKeys<Made>(work: Promise<Made>): Promise<Rescued<Made>> {
  try {
    return { made: await work, doubt: undefined }
  } catch (error) {
    if (!(error instanceof UnconfirmedKeys)) throw error
    // The cast is sound: it holds what the work would have returned.
    return { made: error.made as Made, doubt: error }
  }
}

import { UnconfirmedKeys } from '../accounts/make-key.ts'

/** New keys, and why the change that gave them may not last; undefined = it does. */
export interface Rescued<Made> {
  readonly made: Made
  readonly doubt: UnconfirmedKeys | undefined
}

/** Waits for work that makes keys: where it may be done they are not lost, as nobody could show them again. */
export async function rescueKeys<Made>(work: Promise<Made>): Promise<Rescued<Made>> {
  try {
    return { made: await work, doubt: undefined }
  } catch (error) {
    if (!(error instanceof UnconfirmedKeys)) throw error
    // Sound: it has what the work would have returned.
    return { made: error.made as Made, doubt: error }
  }
}

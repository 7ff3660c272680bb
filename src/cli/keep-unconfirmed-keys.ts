import { UnconfirmedKeys } from '../accounts/make-key.ts'

/** New keys, and why the change is unconfirmed; undefined = it was saved. */
export interface MaybeUnconfirmed<Made> {
  readonly result: Made
  readonly unconfirmed: UnconfirmedKeys | undefined
}

/** Waits for work that creates keys: keeps those of an unconfirmed change, as they could not be shown again. */
export async function keepUnconfirmedKeys<Made>(work: Promise<Made>): Promise<MaybeUnconfirmed<Made>> {
  try {
    return { result: await work, unconfirmed: undefined }
  } catch (error) {
    if (!(error instanceof UnconfirmedKeys)) throw error
    // The cast is sound: it contains what the work would have returned.
    return { result: error.result as Made, unconfirmed: error }
  }
}

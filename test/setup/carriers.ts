import { createFieldReader } from '#gateway/arrival/request-fields.ts'
import { createCarriers } from '#identity/carriers.ts'

/** Where secret keys come if the config says nothing. */
export const usualCarriers = createCarriers(['SecretKey'])

/** Reads requests as a gateway with that config does. */
export const usualFieldReader = createFieldReader(usualCarriers)

import { createCarriers } from '../../src/auth/carriers.ts'
import { createFieldReader } from '../../src/http/request-fields.ts'

/** Where secret keys come if the config says nothing. */
export const usualCarriers = createCarriers(['SecretKey'])

/** Reads requests as a gateway with that config does. */
export const usualFieldReader = createFieldReader(usualCarriers)

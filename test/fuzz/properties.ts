import { bodyProperties } from './properties/bodies.ts'
import { claimProperties } from './properties/claims.ts'
import { configProperties } from './properties/config.ts'
import { credentialProperties } from './properties/credentials.ts'
import { headerProperties } from './properties/headers.ts'
import { headProperties } from './properties/heads.ts'
import { http2Properties } from './properties/http2.ts'
import { pathProperties } from './properties/paths.ts'
import type { Property } from './property.ts'

/** All that is tried with made-up inputs. */
export const properties: readonly Property[] = [
  ...pathProperties,
  ...headerProperties,
  ...headProperties,
  ...bodyProperties,
  ...http2Properties,
  ...credentialProperties,
  ...claimProperties,
  ...configProperties,
]

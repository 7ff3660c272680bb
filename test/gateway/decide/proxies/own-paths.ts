import { issuerPathsOf } from '#gateway/routes/issuer-paths.ts'
import { changePasswordPath, fixedPaths, securityTxtPath } from '#gateway/routes/own-operations.ts'
import { signInReturnPath } from '#gateway/routes/own-paths.ts'
import { metadataPath } from '#gateway/routes/protected-resources.ts'

/** An example of every path that belongs to the gateway with some config: proxies leave them to the main listener. */
export const ownPaths: readonly string[] = [
  ...fixedPaths.map(([path]) => path.replaceAll(/:\w+/g, 'x')),
  ...issuerPathsOf([{ name: 'corp', registration: {} }]).map(([path]) => path),
  metadataPath({ path: '/' }),
  metadataPath({ path: '/orders' }),
  securityTxtPath,
  changePasswordPath,
  signInReturnPath,
  '/portal',
  '/portal/sign-in',
]

/** Paths that look like those, but belong to backends. */
export const foreignPaths: readonly string[] = [
  '/',
  '/orders',
  '/api/v1/orders',
  '/api/v1/accountsx',
  '/.well-known/other',
]

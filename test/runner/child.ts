import { shareTap } from './share-tap.ts'

// Before tap is loaded.
shareTap()
await import('./child-files.ts')

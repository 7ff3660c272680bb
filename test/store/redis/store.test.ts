import t from 'tap'
import { runStoreSuite } from '../suite.ts'
import { emptiedPlaces } from './place.ts'

// The whole suite: a busy machine takes its time.
t.setTimeout(120_000)

runStoreSuite(t, await emptiedPlaces(t))

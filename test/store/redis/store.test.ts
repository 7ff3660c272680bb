import t from 'tap'
import { runStoreSuite } from '../suite.ts'
import { emptiedPlaces } from './place.ts'

runStoreSuite(t, await emptiedPlaces(t))

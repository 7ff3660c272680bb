import t from 'tap'
import { runStoreSuite } from '../suite.ts'
import { newSqlitePlace } from './place.ts'

runStoreSuite(t, newSqlitePlace)

import t from 'tap'
import { drawFlame } from '../../bench/flame/draw.ts'
import { type CpuProfile, readProfile } from '../../bench/flame/profile.ts'
import { shareOf } from '../../bench/flame/share.ts'

const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 4 })
const profile: CpuProfile = {
  startTime: 5_000,
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 3, 4] },
    { id: 2, callFrame: frame('(idle)') },
    { id: 3, callFrame: frame('short', 'file:///home/x/src/a.ts') },
    { id: 4, callFrame: frame('', 'node:net'), children: [5] },
    { id: 5, callFrame: frame('<lt>') },
  ],
  samples: [3, 2, 3, 4, 5, 5, 3],
  timeDeltas: [500, 1_000, 10, 20, 30, 40, 900],
}

const window = { fromUs: 6_000, toUs: 7_000, root: '/home/x' }

t.test('flame graph: a profile is a tree of time without idle or filtered frames', async (t) => {
  t.match(readProfile(profile, window), {
    totalUs: 100,
    callees: [
      { name: '(anonymous)', place: 'node:net:5', totalUs: 90, callees: [{ name: '<lt>', totalUs: 70 }] },
      { name: 'short', place: 'src/a.ts:5', totalUs: 10 },
    ],
  })
})

t.test('flame graph: each frame is as wide as its share, and its name is escaped', async (t) => {
  const drawn = drawFlame(readProfile(profile, window), 'a title')
  t.match(drawn, '<title>&lt;lt&gt;  70.0 %</title><rect x="0.00" y="72" width="980.00"')
  t.match(drawn, '<title>short src/a.ts:5 10.0 %</title><rect x="1260.00" y="54" width="140.00"')
})

t.test('flame graph: the share of files is the time in them and in what they call', async (t) => {
  const root = readProfile(profile, window)
  t.equal(shareOf(root, ['node:net']), 0.9)
  t.equal(shareOf(root, ['src/a.ts']), 0.1)
  t.equal(shareOf(root, ['src/a.ts', 'node:net']), 1)
  t.equal(shareOf(root, ['src/a']), 0)
})

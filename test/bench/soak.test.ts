import t from 'tap'
import { FaultLog, summarizeResponse } from '../../bench/soak/faults.ts'
import { ResponseChecker } from '../../bench/soak/response-checker.ts'
import type { Outcome } from '../../bench/soak/send.ts'

const caller = { id: 'a', role: 'User' }
const sha256 = 'e3b0'
const seen = { nonce: 'n', id: 'a', role: 'User', bytes: 0, sha256 }

function outcome(status: number, body: object = {}): Outcome {
  return { sentAt: 10, endedAt: 20, status, text: JSON.stringify(body), nonce: 'n', sha256 }
}

t.test("soak: an answer with another request's identity, number or body counts as crossed", async (t) => {
  const ledger = new ResponseChecker(new FaultLog())
  ledger.expectForwarded('own', outcome(200, seen), caller)
  t.equal(ledger.crossed, 0)
  const others = [{ nonce: 'm' }, { id: 'b' }, { role: 'Admin' }, { bytes: 1 }, { sha256: 'f' }]
  for (const other of others) ledger.expectForwarded('other', outcome(200, { ...seen, ...other }), caller)
  ledger.expectForwarded('anonymous', outcome(200, seen), undefined)
  ledger.expectForwarded('no JSON', { ...outcome(200), text: 'x' }, caller)
  t.equal(ledger.crossed, others.length + 2)
})

t.test('soak: a status without a fault that causes it is unexplained', async (t) => {
  const faults = new FaultLog()
  const ledger = new ResponseChecker(faults)
  const unavailable = outcome(503, { code: 'store-unavailable' })
  ledger.expectForwarded('before', unavailable, caller)
  t.equal(ledger.unexplained, 1)
  t.match(ledger.examples, [/^unexplained: before, before any fault: 503 store-unavailable in 10 ms$/])
  const during = { ...unavailable, endedAt: performance.now() + 1_000 }
  await faults.run({ name: 'Redis killed', explains: ['store-unavailable'], run: async () => {} })
  ledger.expectForwarded('during', during, caller)
  t.equal(ledger.unexplained, 1)
  ledger.expectForwarded('another status', { ...during, text: '{"code":"internal"}', status: 500 }, caller)
  ledger.expectForwarded('no answer', { ...during, status: 0 }, caller)
  t.equal(ledger.unexplained, 3)
})

t.test('soak: an error code is read only from a problem response', async (t) => {
  t.strictSame(summarizeResponse({ status: 403, text: '{"code":"role-forbidden"}' }), {
    status: 403,
    code: 'role-forbidden',
  })
  t.strictSame(summarizeResponse({ status: 200, text: '{"code":"role-forbidden"}' }), {
    status: 200,
    code: undefined,
  })
})

import t from 'tap'
import { closeFrame } from '#gateway/forward/tunnel.ts'
import { until } from '../../setup/net.ts'
import { openTestTunnel, receive, shortFrame } from './tunnels.ts'

const tick = () => new Promise((resolve) => setImmediate(resolve))
const toBrowser = closeFrame(4001, 'gone', false)
const toBackend = closeFrame(4001, 'gone', true)

t.test('between two frames both sides get their Close at once, masked towards the backend', async (t) => {
  const { browser, backend, tunnel } = await openTestTunnel(t)
  const [atBrowser, atBackend] = [receive(browser), receive(backend)]
  tunnel.close(4001, 'gone')
  await until('both have ended', () => (atBrowser.isEnded && atBackend.isEnded) || undefined)
  t.strictSame(atBrowser.bytes, toBrowser)
  t.strictSame(atBackend.bytes, toBackend)
})

t.test('an unfinished frame is completed before the Close, wherever it was split', async (t) => {
  const frame = shortFrame('hello')
  for (let cut = 1; cut < frame.length; cut++) {
    const { browser, backend, tunnel } = await openTestTunnel(t)
    const [atBrowser, atBackend] = [receive(browser), receive(backend)]
    backend.write(frame.subarray(0, cut))
    await until('the first part has come', () => atBrowser.bytes.length === cut || undefined)
    tunnel.close(4001, 'gone')
    await until('the backend sees the end', () => atBackend.isEnded || undefined)
    t.equal(atBrowser.bytes.length, cut, 'nothing stands within the frame')
    // What follows the frame comes after the Close, and is for nobody.
    backend.write(Buffer.concat([frame.subarray(cut), shortFrame('too late')]))
    await until('the browser sees the end', () => atBrowser.isEnded || undefined)
    t.strictSame(atBrowser.bytes, Buffer.concat([frame, toBrowser]))
    browser.destroy()
  }
})

t.test('an unfinished masked frame is completed before the Close too', async (t) => {
  const frame = shortFrame('hello', { isMasked: true })
  const { browser, backend, tunnel } = await openTestTunnel(t)
  const [atBrowser, atBackend] = [receive(browser), receive(backend)]
  browser.write(frame.subarray(0, 3))
  await until('the first part has come', () => atBackend.bytes.length === 3 || undefined)
  tunnel.close(4001, 'gone')
  await until('the browser sees the end', () => atBrowser.isEnded || undefined)
  browser.write(frame.subarray(3))
  await until('the backend sees the end', () => atBackend.isEnded || undefined)
  t.strictSame(atBackend.bytes, Buffer.concat([frame, toBackend]))
})

t.test('a slow WebSocket reader gets all frames before the Close', async (t) => {
  const { browser, backend, client, tunnel } = await openTestTunnel(t)
  browser.pause()
  const frame = shortFrame('x'.repeat(100))
  const frames = Buffer.concat(Array.from({ length: 100_000 }, () => frame))
  backend.write(frames)
  await until('it has backpressure', () => client.writableNeedDrain || undefined)
  tunnel.close(4001, 'gone')
  await tick()
  const received = receive(browser)
  browser.resume()
  await until('it has ended', () => received.isEnded || received.isClosed || undefined)
  const whole = Math.floor((received.bytes.length - toBrowser.length) / frame.length)
  t.ok(whole > 0)
  t.strictSame(received.bytes.subarray(whole * frame.length), toBrowser)
})

t.test('WebSocket peers that do not close are cut off, reported once', async (t) => {
  const { browser, backend, tunnel, closings } = await openTestTunnel(t)
  // The frame never ends, so that no Close can be put in.
  backend.write(shortFrame('hello').subarray(0, 3))
  const received = receive(browser)
  receive(backend)
  await until('the first part has come', () => received.bytes.length === 3 || undefined)
  tunnel.close(4001, 'gone')
  tunnel.close(1001, 'once more')
  await until('both are closed', () => closings() === 1 || undefined, 5_000)
  await until('the browser sees it', () => received.isEnded || received.isClosed || undefined)
  t.equal(received.bytes.length, 3)
  t.equal(closings(), 1)
})

t.test('closing a tunnel twice sends one Close', async (t) => {
  const { browser, backend, tunnel } = await openTestTunnel(t)
  const [atBrowser, atBackend] = [receive(browser), receive(backend)]
  tunnel.close(4001, 'gone')
  tunnel.close(1001, 'once more')
  await until('both have ended', () => (atBrowser.isEnded && atBackend.isEnded) || undefined)
  t.strictSame([atBrowser.bytes, atBackend.bytes], [toBrowser, toBackend])
})

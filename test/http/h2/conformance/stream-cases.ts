import { endHeaders, endStream, fieldBlock, frame, uint32 } from '../frames.ts'
import { type Case, code, data, get, open, post } from './case.ts'

const update = (streamId: number) => frame('windowUpdate', 0, streamId, uint32(1))
const reset = (streamId: number) => frame('resetStream', 0, streamId, uint32(code.cancel))
const trailers = (fields: readonly (readonly [string, string])[], flags = endHeaders | endStream) =>
  frame('headers', flags, 1, fieldBlock(fields))
const length = (bytes: string) => post(1, [['content-length', bytes]])

/** Streams and their states (RFC 9113 5.1). */
export const streamCases: readonly Case[] = [
  { name: 'DATA on an idle stream', section: '5.1', send: [data(1, 1)], expected: { goaway: code.protocol } },
  {
    name: 'RST_STREAM on an idle stream',
    section: '5.1',
    send: [reset(1)],
    expected: { goaway: code.protocol },
  },
  {
    name: 'WINDOW_UPDATE on an idle stream',
    section: '5.1',
    send: [update(1)],
    expected: { goaway: code.protocol },
  },
  {
    name: 'WINDOW_UPDATE on an idle stream of the gateway',
    section: '5.1',
    send: [open(9), update(2)],
    expected: { goaway: code.protocol },
  },
  {
    name: 'HEADERS on an even stream',
    section: '5.1.1',
    send: [get(2)],
    expected: { goaway: code.protocol },
  },
  {
    name: 'HEADERS on an even stream below others',
    section: '5.1.1',
    send: [open(5), get(2)],
    expected: { goaway: code.protocol },
  },
  {
    name: 'HEADERS on a stream that was left out',
    section: '5.1.1',
    send: [open(5), get(3)],
    expected: { goaway: code.protocol },
  },
  { name: 'streams that are left out', section: '5.1.1', send: [get(1), get(51)], expected: 'ignored' },
  {
    name: 'DATA on a stream that was left out',
    section: '5.1',
    send: [open(5), data(3, 1)],
    expected: { reset: code.streamClosed, streamId: 3 },
  },
  {
    name: 'DATA after the end of the request',
    section: '5.1',
    send: [open(1), data(1, 1)],
    expected: { reset: code.streamClosed },
  },
  {
    name: 'HEADERS after the end of the request',
    section: '5.1',
    send: [open(1), get(1)],
    expected: { reset: code.streamClosed },
  },
  {
    name: 'WINDOW_UPDATE after the end of the request',
    section: '5.1',
    send: [open(1), update(1)],
    expected: 'ignored',
  },
  {
    name: 'RST_STREAM after the end of the request',
    section: '5.1',
    send: [open(1), reset(1)],
    expected: 'ignored',
  },
  {
    name: 'DATA on a closed stream',
    section: '5.1',
    send: [get(1), 'answer', data(1, 1)],
    expected: { reset: code.streamClosed },
  },
  {
    name: 'HEADERS on a closed stream',
    section: '5.1',
    send: [get(1), 'answer', get(1)],
    expected: { goaway: code.streamClosed },
  },
  {
    name: 'WINDOW_UPDATE on a closed stream',
    section: '5.1',
    send: [get(1), 'answer', update(1)],
    expected: 'ignored',
  },
  {
    name: 'RST_STREAM on a closed stream',
    section: '5.1',
    send: [get(1), 'answer', reset(1), reset(1)],
    expected: 'ignored',
  },
  {
    name: 'DATA on a stream that the client has reset',
    section: '5.1',
    send: [post(1), reset(1), data(1, 1)],
    expected: { reset: code.streamClosed },
  },
  {
    name: 'HEADERS on a stream that the client has reset',
    section: '5.1',
    send: [open(1), reset(1), get(1)],
    expected: { goaway: code.streamClosed },
  },
  {
    name: 'what comes on a stream that the gateway has reset',
    section: '5.1',
    send: [length('1'), data(1, 2), data(1, 2), trailers([['x-a', 'b']]), update(1), reset(1)],
    expected: { reset: code.protocol },
  },
  {
    name: 'a WINDOW_UPDATE that overflows on a stream that the gateway has reset',
    section: '5.1',
    send: [length('1'), data(1, 2), frame('windowUpdate', 0, 1, uint32(2 ** 31 - 1))],
    expected: { reset: code.protocol },
  },
]

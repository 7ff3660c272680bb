import { endHeaders, endStream, frame, settingsPayload, uint32 } from '../frames.ts'
import { anyFrame, bytes, type Case, code, data, get, open, post } from './case.ts'

const acknowledged = 0x1
const windowMax = 2 ** 31 - 1
const settings = (...entries: readonly (readonly [number, number])[]) =>
  frame('settings', 0, 0, settingsPayload(entries))

/** Frames that must not be on the stream 0, or on no other. */
const misplaced: readonly (readonly [name: string, section: string, bytes: Buffer])[] = [
  ['DATA on the stream 0', '6.1', data(0, 5)],
  ['HEADERS on the stream 0', '6.2', get(0)],
  ['PRIORITY on the stream 0', '6.3', frame('priority', 0, 0, Buffer.alloc(5))],
  ['RST_STREAM on the stream 0', '6.4', frame('resetStream', 0, 0, Buffer.alloc(4))],
  ['CONTINUATION on the stream 0', '6.10', frame('continuation', endHeaders, 0, bytes(0x82))],
  ['SETTINGS on a stream', '6.5', frame('settings', 0, 1)],
  ['an acknowledgement of SETTINGS on a stream', '6.5', frame('settings', acknowledged, 1)],
  ['PING on a stream', '6.7', frame('ping', 0, 1, Buffer.alloc(8))],
  ['GOAWAY on a stream', '6.8', frame('goaway', 0, 1, Buffer.alloc(8))],
]

const wrongLengths: readonly (readonly [name: string, section: string, bytes: Buffer])[] = [
  ['PRIORITY of four bytes', '6.3', frame('priority', 0, 1, Buffer.alloc(4))],
  ['PRIORITY of six bytes', '6.3', frame('priority', 0, 1, Buffer.alloc(6))],
  ['RST_STREAM of three bytes', '6.4', frame('resetStream', 0, 1, Buffer.alloc(3))],
  ['RST_STREAM of five bytes', '6.4', frame('resetStream', 0, 1, Buffer.alloc(5))],
  ['SETTINGS of five bytes', '6.5', frame('settings', 0, 0, Buffer.alloc(5))],
  ['SETTINGS of seven bytes', '6.5', frame('settings', 0, 0, Buffer.alloc(7))],
  [
    'an acknowledgement of SETTINGS with a payload',
    '6.5',
    frame('settings', acknowledged, 0, Buffer.alloc(6)),
  ],
  ['PING of seven bytes', '6.7', frame('ping', 0, 0, Buffer.alloc(7))],
  ['PING of nine bytes', '6.7', frame('ping', 0, 0, Buffer.alloc(9))],
  ['an acknowledgement of PING of six bytes', '6.7', frame('ping', acknowledged, 0, Buffer.alloc(6))],
  ['GOAWAY of seven bytes', '6.8', frame('goaway', 0, 0, Buffer.alloc(7))],
  ['WINDOW_UPDATE of three bytes', '6.9', frame('windowUpdate', 0, 0, Buffer.alloc(3))],
  ['WINDOW_UPDATE of five bytes', '6.9', frame('windowUpdate', 0, 0, Buffer.alloc(5))],
  ['WINDOW_UPDATE of five bytes on a stream', '6.9', frame('windowUpdate', 0, 1, Buffer.alloc(5))],
]

const badSettings: readonly (readonly [name: string, bytes: Buffer, code: number])[] = [
  ['ENABLE_PUSH of 2', settings([2, 2]), code.protocol],
  ['INITIAL_WINDOW_SIZE of 2^31', settings([4, 2 ** 31]), code.flowControl],
  ['INITIAL_WINDOW_SIZE of 2^32 - 1', settings([4, 2 ** 32 - 1]), code.flowControl],
  ['MAX_FRAME_SIZE of 16,383', settings([5, 16_383]), code.protocol],
  ['MAX_FRAME_SIZE of 2^24', settings([5, 2 ** 24]), code.protocol],
  ['a value out of bounds before one within', settings([2, 2], [2, 0]), code.protocol],
]

const goodSettings: readonly (readonly [name: string, bytes: Buffer])[] = [
  ['no settings', settings()],
  ['settings that nobody knows', settings([0xff, 1], [0xffff, 2 ** 32 - 1], [0, 0])],
  ['ENABLE_PUSH of 1 and 0', settings([2, 1], [2, 0])],
  ['the largest INITIAL_WINDOW_SIZE', settings([4, windowMax])],
  ['the largest MAX_FRAME_SIZE', settings([5, 2 ** 24 - 1])],
  ['the smallest MAX_FRAME_SIZE', settings([5, 16_384])],
  ['HEADER_TABLE_SIZE of 0', settings([1, 0])],
  ['HEADER_TABLE_SIZE of 2^32 - 1', settings([1, 2 ** 32 - 1])],
  ['MAX_CONCURRENT_STREAMS of 0', settings([3, 0])],
  ['MAX_HEADER_LIST_SIZE of 0', settings([6, 0])],
  ['the same setting three times', settings([4, 0], [4, 10], [4, 65_535])],
]

/** What is no part of a request (RFC 9113 6.3 to 6.9). */
export const controlCases: readonly Case[] = [
  ...misplaced.map(([name, section, bytes]) => ({
    name,
    section,
    send: [open(1), bytes],
    expected: { goaway: code.protocol },
  })),
  ...wrongLengths.map(([name, section, bytes]) => ({
    name,
    section,
    send: [open(1), bytes],
    expected: { goaway: code.frameSize },
  })),
  ...badSettings.map(([name, bytes, code]) => ({
    name: `SETTINGS with ${name}`,
    section: '6.5.2',
    send: [bytes],
    expected: { goaway: code },
  })),
  ...goodSettings.map(([name, bytes]) => ({
    name: `SETTINGS with ${name}`,
    section: '6.5.2',
    send: [bytes],
    expected: 'ignored' as const,
  })),
  {
    name: 'an INITIAL_WINDOW_SIZE that makes the window of an open stream too large',
    section: '6.9.2',
    send: [open(1), frame('windowUpdate', 0, 1, uint32(windowMax - 65_535)), settings([4, 65_536])],
    expected: { goaway: code.flowControl },
  },
  {
    name: 'WINDOW_UPDATE of 0 for the connection',
    section: '6.9',
    send: [frame('windowUpdate', 0, 0, uint32(0))],
    expected: { goaway: code.protocol },
  },
  {
    name: 'WINDOW_UPDATE of 0 for a stream',
    section: '6.9',
    send: [open(1), frame('windowUpdate', 0, 1, uint32(0))],
    expected: { reset: code.protocol },
  },
  {
    name: 'WINDOW_UPDATE whose reserved bit alone is set',
    section: '6.9',
    send: [open(1), frame('windowUpdate', 0, 1, uint32(2 ** 31))],
    expected: { reset: code.protocol },
  },
  {
    name: 'a window of the connection of 2^31 - 1',
    section: '6.9.1',
    send: [frame('windowUpdate', 0, 0, uint32(windowMax - 65_535))],
    expected: 'ignored',
  },
  {
    name: 'a window of the connection of 2^31',
    section: '6.9.1',
    send: [frame('windowUpdate', 0, 0, uint32(windowMax - 65_534))],
    expected: { goaway: code.flowControl },
  },
  {
    name: 'a window of a stream of 2^31 - 1',
    section: '6.9.1',
    send: [open(1), frame('windowUpdate', 0, 1, uint32(windowMax - 65_535))],
    expected: 'ignored',
  },
  {
    name: 'a window of a stream of 2^31',
    section: '6.9.1',
    send: [open(1), frame('windowUpdate', 0, 1, uint32(windowMax - 65_534))],
    expected: { reset: code.flowControl },
  },
  {
    name: 'PRIORITY on an idle stream',
    section: '5.1',
    send: [frame('priority', 0, 99, bytes(0, 0, 0, 1, 7))],
    expected: 'ignored',
  },
  {
    name: 'PRIORITY of an open stream, then of a closed one',
    section: '5.1',
    send: [
      get(1),
      frame('priority', 0, 1, bytes(0, 0, 0, 0, 7)),
      'answer',
      frame('priority', 0, 1, Buffer.alloc(5)),
    ],
    expected: 'ignored',
  },
  {
    name: 'PRIORITY by which a stream depends on itself',
    section: '5.3.1 of RFC 7540',
    send: [open(1), frame('priority', 0, 1, bytes(0, 0, 0, 1, 7))],
    expected: { goaway: code.protocol },
  },
  {
    name: 'PUSH_PROMISE from a client',
    section: '8.4',
    send: [open(1), frame('pushPromise', endHeaders, 1, Buffer.concat([uint32(2), bytes(0x82)]))],
    expected: { goaway: code.protocol },
  },
  {
    name: 'an acknowledgement of a PING that was not sent',
    section: '6.7',
    send: [frame('ping', acknowledged, 0, Buffer.alloc(8, 1))],
    expected: 'ignored',
  },
  {
    name: 'a second acknowledgement of SETTINGS',
    section: '6.5.3',
    send: [frame('settings', acknowledged, 0), frame('settings', acknowledged, 0)],
    expected: 'ignored',
  },
  {
    name: 'GOAWAY with a reason, after which requests are still answered',
    section: '6.8',
    send: [frame('goaway', 0, 0, Buffer.concat([uint32(0), uint32(0), Buffer.from('bye')])), get(1)],
    expected: { status: '200' },
  },
  {
    name: 'RST_STREAM with a code that nobody knows',
    section: '7',
    send: [open(1), frame('resetStream', 0, 1, uint32(0xffff_ffff))],
    expected: 'ignored',
  },
  {
    name: 'ALTSVC and ORIGIN, which are for clients',
    section: '5.5',
    send: [anyFrame(0xa, 0, 0, Buffer.alloc(9)), anyFrame(0xc, 0, 0, Buffer.alloc(2)), get(1)],
    expected: { status: '200' },
  },
  {
    name: 'a body in the frames that end it and are empty',
    section: '6.1',
    send: [post(1), data(1, 0), data(1, 5), data(1, 0), data(1, 0, endStream)],
    expected: { status: '200' },
  },
]

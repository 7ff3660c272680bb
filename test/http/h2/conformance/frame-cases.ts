import { endHeaders, endStream, frame, requestBlock, settingsPayload } from '../frames.ts'
import { anyFrame, bytes, type Case, code, data, get, open, padded, post, priority } from './case.ts'

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const acknowledged = 0x1
const block = requestBlock('/public/x')
const ping = frame('ping', 0, 0, Buffer.alloc(8))

/** How a connection begins, and what frames are like (RFC 9113 3.4, 4, 6.10). */
export const frameCases: readonly Case[] = [
  {
    name: 'PING is the first frame',
    section: '3.4',
    isBare: true,
    send: [preface, ping],
    expected: { goaway: code.protocol },
  },
  {
    name: 'HEADERS is the first frame',
    section: '3.4',
    isBare: true,
    send: [preface, get(1)],
    expected: { goaway: code.protocol },
  },
  {
    name: 'DATA is the first frame',
    section: '3.4',
    isBare: true,
    send: [preface, data(1, 1)],
    expected: { goaway: code.protocol },
  },
  {
    name: 'a frame of an unknown type is the first',
    section: '3.4',
    isBare: true,
    send: [preface, anyFrame(0xbb, 0, 0)],
    expected: { goaway: code.protocol },
  },
  {
    name: 'an acknowledgement of SETTINGS is the first frame',
    section: '3.4',
    isBare: true,
    send: [preface, frame('settings', acknowledged, 0)],
    expected: { goaway: code.protocol },
  },
  {
    name: 'the preface comes in two pieces, the second with SETTINGS',
    section: '3.4',
    isBare: true,
    send: [preface.subarray(0, 18), Buffer.concat([preface.subarray(18), frame('settings', 0, 0)])],
    expected: 'ignored',
  },
  {
    name: 'a frame of an unknown type',
    section: '4.1',
    send: [anyFrame(0xfa, 0xff, 0, bytes(1, 2))],
    expected: 'ignored',
  },
  {
    name: 'a frame of an unknown type on an idle stream',
    section: '5.5',
    send: [anyFrame(0xfa, 0xff, 77)],
    expected: 'ignored',
  },
  {
    name: 'flags that PING does not have',
    section: '4.1',
    send: [frame('ping', 0xfe, 0, Buffer.alloc(8))],
    expected: 'ignored',
  },
  {
    name: 'flags that HEADERS does not have',
    section: '4.1',
    send: [frame('headers', 0xd2 | endHeaders | endStream, 1, block)],
    expected: { status: '200' },
  },
  {
    name: 'flags that DATA does not have',
    section: '4.1',
    send: [post(1), data(1, 5, 0xf6 | endStream)],
    expected: { status: '200' },
  },
  {
    name: 'the reserved bit of stream ids',
    section: '4.1',
    send: [frame('headers', endHeaders | endStream, 0x8000_0001, block)],
    expected: { status: '200' },
  },
  {
    name: 'a DATA frame of 16,384 bytes',
    section: '4.2',
    send: [post(1), data(1, 16_384, endStream)],
    expected: { status: '200' },
  },
  {
    name: 'a DATA frame of 16,385 bytes',
    section: '4.2',
    send: [post(1), data(1, 16_385, endStream)],
    expected: { goaway: code.frameSize },
  },
  {
    name: 'a HEADERS frame of 16,385 bytes',
    section: '4.2',
    send: [frame('headers', endHeaders, 1, Buffer.alloc(16_385))],
    expected: { goaway: code.frameSize },
  },
  {
    name: 'a frame of an unknown type that is too large',
    section: '4.2',
    send: [anyFrame(0xfa, 0, 0, Buffer.alloc(16_385))],
    expected: { goaway: code.frameSize },
  },
  {
    name: 'an empty DATA frame that is padded',
    section: '6.1',
    send: [post(1), data(1, 0, padded)],
    expected: { goaway: code.frameSize },
  },
  {
    name: 'padding of DATA as long as its frame',
    section: '6.1',
    send: [post(1), frame('data', padded, 1, bytes(4, 0, 0, 0))],
    expected: { goaway: code.protocol },
  },
  {
    name: 'DATA that is padding alone',
    section: '6.1',
    send: [post(1, [['content-length', '0']]), frame('data', padded | endStream, 1, bytes(3, 0, 0, 0))],
    expected: { status: '200' },
  },
  {
    name: 'padding of DATA, which does not count as content',
    section: '6.1',
    send: [
      post(1, [['content-length', '2']]),
      frame('data', padded | endStream, 1, bytes(2, 0x61, 0x62, 0, 0)),
    ],
    expected: { status: '200' },
  },
  {
    name: 'padding of HEADERS longer than its frame',
    section: '6.2',
    send: [frame('headers', padded | endHeaders | endStream, 1, bytes(9, 0x82, 0x84, 0x86))],
    expected: { goaway: code.protocol },
  },
  {
    name: 'padding of HEADERS that reaches into its priority',
    section: '6.2',
    send: [frame('headers', padded | priority | endHeaders | endStream, 1, bytes(4, 0, 0, 0, 0, 0, 0, 0))],
    expected: { goaway: code.protocol },
  },
  {
    name: 'HEADERS with padding and priority',
    section: '6.2',
    send: [
      frame(
        'headers',
        padded | priority | endHeaders | endStream,
        1,
        Buffer.concat([bytes(2, 0x80, 0, 0, 0, 15), block, bytes(0, 0)]),
      ),
    ],
    expected: { status: '200' },
  },
  {
    name: 'an empty HEADERS frame that is padded',
    section: '6.2',
    send: [frame('headers', padded | endHeaders | endStream, 1)],
    expected: { goaway: code.frameSize },
  },
  {
    name: 'a HEADERS frame too short for its priority',
    section: '6.2',
    send: [frame('headers', priority | endHeaders | endStream, 1, bytes(0, 0, 0, 0))],
    expected: { goaway: code.frameSize },
  },
  {
    name: 'a field block in four frames, one of them empty',
    section: '6.10',
    send: [
      frame('headers', endStream, 1, block.subarray(0, 1)),
      frame('continuation', 0, 1, block.subarray(1, 9)),
      frame('continuation', 0, 1),
      frame('continuation', endHeaders, 1, block.subarray(9)),
    ],
    expected: { status: '200' },
  },
  ...(
    [
      ['DATA of its stream', data(1, 1)],
      ['HEADERS of another stream', get(3)],
      ['HEADERS of its stream', get(1)],
      ['PRIORITY', frame('priority', 0, 1, Buffer.alloc(5))],
      ['RST_STREAM', frame('resetStream', 0, 1, bytes(0, 0, 0, 8))],
      ['SETTINGS', frame('settings', 0, 0, settingsPayload([[3, 1]]))],
      ['PING', ping],
      ['GOAWAY', frame('goaway', 0, 0, Buffer.alloc(8))],
      ['WINDOW_UPDATE', frame('windowUpdate', 0, 0, bytes(0, 0, 0, 1))],
      ['a frame of an unknown type', anyFrame(0xfa, 0, 0)],
      ['CONTINUATION of another stream', frame('continuation', endHeaders, 3, block)],
      ['CONTINUATION of no stream', frame('continuation', endHeaders, 0, block)],
    ] as const
  ).map(([what, bytes]) => ({
    name: `a field block is interrupted by ${what}`,
    section: '6.10',
    send: [frame('headers', endStream, 1, block.subarray(0, 5)), bytes],
    expected: { goaway: code.protocol },
  })),
  {
    name: 'a field block is interrupted by DATA of an open stream',
    section: '6.10',
    send: [post(1), frame('headers', endStream, 3, block.subarray(0, 5)), data(1, 1)],
    expected: { goaway: code.protocol },
  },
  {
    name: 'CONTINUATION after a field block that has ended',
    section: '6.10',
    send: [open(1), frame('continuation', endHeaders, 1, block)],
    expected: { goaway: code.protocol },
  },
  {
    name: 'CONTINUATION without HEADERS',
    section: '6.10',
    send: [frame('continuation', endHeaders, 1, block)],
    expected: { goaway: code.protocol },
  },
]

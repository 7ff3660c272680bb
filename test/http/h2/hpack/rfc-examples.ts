import { hex } from './hex.ts'

/** Requests and responses that follow each other on one connection (RFC 7541 Appendix C). */

type Fields = readonly (readonly [name: string, value: string])[]

export interface Example {
  readonly block: Buffer
  readonly fields: Fields
  /** What the table holds afterwards, the latest first. */
  readonly table: Fields
}

export interface ExampleSeries {
  readonly section: string
  readonly tableSize: number
  readonly examples: readonly Example[]
}

const get = [':method', 'GET'] as const
const custom = ['custom-key', 'custom-value'] as const
const noCache = ['cache-control', 'no-cache'] as const
const authority = [':authority', 'www.example.com'] as const
const privately = ['cache-control', 'private'] as const
const [date21, date22] = [
  ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
  ['date', 'Mon, 21 Oct 2013 20:13:22 GMT'],
] as const
const location = ['location', 'https://www.example.com'] as const
const gzip = ['content-encoding', 'gzip'] as const
const setCookie = ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'] as const
const status = (code: string) => [':status', code] as const

const requests: readonly Omit<Example, 'block'>[] = [
  { fields: [get, [':scheme', 'http'], [':path', '/'], authority], table: [authority] },
  { fields: [get, [':scheme', 'http'], [':path', '/'], authority, noCache], table: [noCache, authority] },
  {
    fields: [get, [':scheme', 'https'], [':path', '/index.html'], authority, custom],
    table: [custom, noCache, authority],
  },
]
const responses: readonly Omit<Example, 'block'>[] = [
  {
    fields: [status('302'), privately, date21, location],
    table: [location, date21, privately, status('302')],
  },
  {
    fields: [status('307'), privately, date21, location],
    table: [status('307'), location, date21, privately],
  },
  {
    fields: [status('200'), privately, date22, location, gzip, setCookie],
    table: [setCookie, gzip, date22],
  },
]

function series(
  section: string,
  tableSize: number,
  expected: readonly Omit<Example, 'block'>[],
  blocks: readonly string[],
): ExampleSeries {
  return {
    section,
    tableSize,
    examples: expected.map((one, index) => ({ ...one, block: hex(blocks[index] ?? '') })),
  }
}

export const rfcExamples: readonly ExampleSeries[] = [
  {
    section: 'C.2.1, a literal with indexing',
    tableSize: 4_096,
    examples: [
      {
        block: hex('400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572'),
        fields: [['custom-key', 'custom-header']],
        table: [['custom-key', 'custom-header']],
      },
    ],
  },
  {
    section: 'C.2.2, a literal without indexing',
    tableSize: 4_096,
    examples: [
      { block: hex('040c 2f73 616d 706c 652f 7061 7468'), fields: [[':path', '/sample/path']], table: [] },
    ],
  },
  {
    section: 'C.2.3, a literal never indexed',
    tableSize: 4_096,
    examples: [
      {
        block: hex('1008 7061 7373 776f 7264 0673 6563 7265 74'),
        fields: [['password', 'secret']],
        table: [],
      },
    ],
  },
  {
    section: 'C.2.4, an indexed field',
    tableSize: 4_096,
    examples: [{ block: hex('82'), fields: [get], table: [] }],
  },
  series('C.3, requests', 4_096, requests, [
    '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
    '8286 84be 5808 6e6f 2d63 6163 6865',
    '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
  ]),
  series('C.4, requests in Huffman code', 4_096, requests, [
    '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
    '8286 84be 5886 a8eb 1064 9cbf',
    '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
  ]),
  series('C.5, responses with eviction', 256, responses, [
    `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133
     3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`,
    '4803 3330 37c1 c0bf',
    `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a
     6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d
     6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31`,
  ]),
  series('C.6, responses in Huffman code with eviction', 256, responses, [
    `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d
     29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3`,
    '4883 640e ffc1 c0bf',
    `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d
     d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106
     3d50 07`,
  ]),
]

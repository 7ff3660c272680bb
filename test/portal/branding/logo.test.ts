import t from 'tap'
import { imageKindOf } from '#portal/branding.ts'

const typeOf = (content: string | Buffer) => imageKindOf(Buffer.from(content))?.type

t.test('an image is known by its content', async (t) => {
  t.equal(typeOf(Buffer.from('89504e470d0a1a0a0000', 'hex')), 'image/png')
  t.equal(typeOf(Buffer.from('ffd8ffe000104a464946', 'hex')), 'image/jpeg')
  t.equal(typeOf('RIFF\0\0\0\0WEBPVP8 '), 'image/webp')
  for (const svg of [
    '<svg xmlns="http://www.w3.org/2000/svg"/>',
    '\uFEFF<?xml version="1.0"?>\n<!-- made by hand -->\n<!DOCTYPE svg>\n<svg\nviewBox="0 0 1 1"></svg>',
  ])
    t.equal(typeOf(svg), 'image/svg+xml', svg)
})

t.test('whatever is no such image is none', async (t) => {
  for (const content of [
    '',
    'GIF89a',
    '<html><p>svg</p></html>',
    '<svgx/>',
    'text <svg>',
    'RIFF\0\0\0\0WAVE',
    '\x89PN',
  ])
    t.equal(typeOf(content), undefined, content)
  t.equal(typeOf(`<?xml version="1.0"?>${' '.repeat(5_000)}<svg/>`), undefined, 'not within the first 4 KiB')
})

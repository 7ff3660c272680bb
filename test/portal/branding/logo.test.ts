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
    '<?xml version="1.0"?><?xml-stylesheet href="a.css"?><!-- > <p> --><!-- don\'t --><svg></svg>',
    '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><svg></svg>',
    '<!DOCTYPE svg [\n<!ENTITY a "b">\n<!-- c -->\n]\n>\n<svg></svg>',
  ])
    t.equal(typeOf(svg), 'image/svg+xml', svg)
})

t.test('whatever is no such image is none', async (t) => {
  for (const content of [
    '',
    'GIF89a',
    '<html><p>svg</p></html>',
    '<html><p><svg></svg></p></html>',
    '<!DOCTYPE html>\n<html><svg></svg></html>',
    '<!-- <svg> --><html></html>',
    '<!-- <svg>',
    '<?xml <svg>',
    '<!DOCTYPE svg [ <svg>',
    '<!DOCTYPE svg [<!ENTITY a "<svg>">]><html/>',
    '<!-- --><svg',
    '<a/><svg></svg>',
    '<svgx/>',
    'text <svg>',
    'RIFF\0\0\0\0WAVE',
    '\x89PN',
  ])
    t.equal(typeOf(content), undefined, content)
  t.equal(typeOf(`<?xml version="1.0"?>${' '.repeat(5_000)}<svg/>`), undefined, 'not within the first 4 KiB')
})

t.test('a long file of beginnings is read at once', async (t) => {
  for (const part of ['<!--', '<!---->', '<?', '<??>', '<!DOCTYPE [', '] ', '<!DOCTYPE []>']) {
    const startedAt = performance.now()
    t.equal(typeOf(`<!DOCTYPE [${part.repeat(100_000)}`), undefined, part)
    t.equal(typeOf(part.repeat(100_000)), undefined, part)
    t.ok(performance.now() - startedAt < 1_000, part)
  }
})

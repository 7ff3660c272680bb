import { readFileSync } from 'node:fs'
import t from 'tap'
import { accentStyle, contrastMin, contrastOf, contrastOn, readableOn } from '#portal/branding.ts'

/** Colours all over the cube, and some at its edges. */
const steps = ['00', '33', '66', '99', 'cc', 'ff']
const colors = steps.flatMap((red) => steps.flatMap((green) => steps.map((blue) => `#${red}${green}${blue}`)))

/** The custom properties of each theme, in the order of the text. */
function themesOf(css: string): readonly (readonly [isDark: boolean, (name: string) => string])[] {
  return [...css.matchAll(/:root \{([^}]*)\}/g)].map(({ 0: rule, 1: body = '', index }) => {
    const isDark = css.slice(Math.max(0, index - 50), index).includes('prefers-color-scheme: dark')
    const find = (name: string) =>
      new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(body)?.[1] ?? `no ${name} in ${rule}`
    return [isDark, find]
  })
}

const ownStyle = readFileSync('src/platform/pages/assets/1-base.css', 'utf8')
const grounds = new Map(themesOf(ownStyle))

t.test('contrast is that of WCAG 2.2', async (t) => {
  t.equal(contrastOf('#000000', '#ffffff'), 21)
  t.equal(contrastOf('#ffffff', '#ffffff'), 1)
  t.equal(contrastOf('#767676', '#ffffff').toFixed(2), '4.54')
  t.equal(contrastOf('#ffffff', '#777777').toFixed(2), '4.48')
})

t.test('every colour becomes one that can be read on every ground that the style sheet has', async (t) => {
  for (const color of colors) {
    for (const theme of ['light', 'dark'] as const) {
      const readable = readableOn(theme, color)
      const find = grounds.get(theme === 'dark')
      for (const ground of ['ground', 'surface', 'sunken'])
        if (contrastOf(readable, find?.(ground) ?? '') < contrastMin)
          t.fail(`${readable} on ${ground} of ${theme}`)
      if (contrastOn(theme, color) >= contrastMin && readable !== color) t.fail(`${color} needs no change`)
    }
  }
  t.equal(readableOn('light', '#6d28d9'), '#6d28d9')
  t.ok(contrastOn('dark', '#6d28d9') < contrastMin)
})

t.test(
  'every text of an accent style has the contrast, links under the pointer and buttons too',
  async (t) => {
    for (const color of colors) {
      const themes = themesOf(accentStyle({ color: readableOn('light', color), darkColor: undefined }))
      t.strictSame(
        themes.map(([isDark]) => isDark),
        [false, true],
      )
      for (const [isDark, find] of themes) {
        const behind = ['ground', 'surface', 'sunken'].map((name) => grounds.get(isDark)?.(name) ?? '')
        const pairs = [
          ...behind.flatMap((ground) => [
            [find('accent'), ground],
            [find('accent-hover'), ground],
          ]),
          [find('accent'), find('accent-soft')],
          [grounds.get(isDark)?.('text') ?? '', find('accent-soft')],
          [find('on-accent'), find('accent')],
          [find('on-accent'), find('accent-hover')],
        ]
        for (const [one = '', other = ''] of pairs)
          if (!(contrastOf(one, other) >= contrastMin)) t.fail(`${color}: ${one} on ${other}`)
      }
    }
  },
)

t.test('only the themes of colours that are set are changed', async (t) => {
  t.equal(accentStyle({ color: undefined, darkColor: undefined }), '')
  const dark = accentStyle({ color: undefined, darkColor: '#ffcc00' })
  t.strictSame(
    themesOf(dark).map(([isDark, find]) => [isDark, find('accent')]),
    [[true, '#ffcc00']],
  )
  const both = themesOf(accentStyle({ color: '#6d28d9', darkColor: '#ffcc00' }))
  t.strictSame(
    both.map(([, find]) => find('accent')),
    ['#6d28d9', '#ffcc00'],
  )
})

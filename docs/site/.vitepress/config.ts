import { cpSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { defineConfig } from 'vitepress'

/** The site shows the same pages as the forge, at the same paths: `docs/README.md` is its index and its sidebar. */

const root = resolve(import.meta.dirname, '../../..')
/** Files of the repository that pages link to, such as examples: they are published beside the pages. */
const linked = new Set<string>()

interface Item {
  readonly text: string
  readonly link: string
  readonly collapsed?: boolean
  readonly items?: readonly Item[]
}

/** The pages that a text of an index links to; below an index of its own, the pages of that. */
function itemsOf(page: string, text: string): readonly Item[] {
  return [...text.matchAll(/\[([^\]]+)\]\((?!https?:)([^)#]+\.md)\)/g)].map(([, title = '', path = '']) => {
    const target = join(dirname(page), path)
    const rows = /[^/]\/README\.md$/.test(path) ? read(target).match(/^\| \[.+?\)/gm) : null
    const link = `/${target.replace(/README\.md$/, '').replace(/\.md$/, '')}`
    return {
      text: capitalised(title),
      link,
      ...(rows && { collapsed: true, items: itemsOf(target, rows.join('\n')) }),
    }
  })
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function read(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}

function packaged(path: string): string {
  return join(import.meta.dirname, '../node_modules', path)
}

/** The rows of the index: what a reader wants, and the pages for it. */
const groups = [...read('docs/README.md').matchAll(/^\| ([^|[]+) \| (\[.+) \|$/gm)]
const decisions = readdirSync(join(root, 'docs/decisions')).map((name) => ({
  text: /^# (.+)$/m.exec(read(`docs/decisions/${name}`))?.[1] ?? name,
  link: `/docs/decisions/${name.replace(/\.md$/, '')}`,
}))

export default defineConfig({
  title: 'Gatehouse',
  description: 'An authenticating reverse proxy: keys, tokens, roles and limits in front of your backends.',
  srcDir: root,
  outDir: join(import.meta.dirname, '../dist'),
  cacheDir: join(import.meta.dirname, '../node_modules/.cache'),
  srcExclude: [
    '**/node_modules/**',
    '{src,tools,.github,examples,deploy,release,data}/**',
    'test/!(security)/**',
  ],
  rewrites: (page) => page.replace(/(^|\/)README\.md$/, '$1index.md'),
  cleanUrls: true,
  vite: {
    // Pages outside of this folder find Vue here, and not the compiler options of the program.
    resolve: {
      alias: [
        { find: 'vue/server-renderer', replacement: packaged('vue/server-renderer/index.mjs') },
        { find: /^vue$/, replacement: packaged('vue/dist/vue.runtime.esm-bundler.js') },
      ],
    },
    esbuild: { tsconfigRaw: {} },
    build: { chunkSizeWarningLimit: 2000 },
  },
  lastUpdated: false,
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/docs/start' },
      { text: 'Documentation', link: '/docs/' },
      { text: 'Changes', link: '/CHANGELOG' },
    ],
    sidebar: [
      ...groups.map(([, wish = '', pages = '']) => ({
        text: capitalised(wish),
        items: [...itemsOf('docs/README.md', pages)],
      })),
      { text: 'Decisions', collapsed: true, items: decisions },
    ],
  },
  markdown: {
    // The anchors of a forge: test/docs.test.ts checks links by them.
    anchor: {
      slugify: (heading) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
          .replaceAll(' ', '-'),
    },
    config(md) {
      // Braces are text in these pages, and no template of Vue.
      for (const name of ['text', 'code_inline'] as const) {
        const render = md.renderer.rules[name]
        if (render) md.renderer.rules[name] = (...args) => render(...args).replaceAll('{{', '&#123;&#123;')
      }
      md.core.ruler.push('files', ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === 'link_open' ? token.attrGet('href') : null
          if (href) publish(env.path as string, href, token)
        }
      })
    },
  },
  buildEnd({ outDir }) {
    for (const file of linked) cpSync(join(root, file), join(outDir, file), { recursive: true })
  },
})

interface Token {
  attrSet(name: string, value: string): void
}

/** Has a link lead to what the site has in place of the file or folder. VitePress checks those to pages. */
function publish(page: string, href: string, token: Token): void {
  const [path = '', anchor] = href.split('#')
  if (/^[a-z]+:/.test(href) || path === '') return
  const file = relative(root, resolve(dirname(page), path))
  if (!existsSync(join(root, file))) throw new Error(`${page}: ${href} leads nowhere`)
  if (statSync(join(root, file)).isDirectory()) {
    const [first] = readdirSync(join(root, file)).filter((name) => name.endsWith('.md'))
    if (first === undefined) throw new Error(`${page}: ${href} has no page`)
    publish(page, `${path.replace(/\/?$/, '/')}${first}`, token)
  } else if (path.endsWith('.md')) {
    const end = anchor === undefined ? '' : `#${anchor}`
    token.attrSet('href', path.replace(/(^|\/)README\.md$/, '$1index.md') + end)
  } else {
    linked.add(file)
    // VitePress leaves links with a target alone.
    token.attrSet('target', '_self')
  }
}

import { existsSync, globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'

/** The files that say how the repository is worked on: workflows, editors, updates, issues. */

interface Step {
  readonly uses?: string
  readonly run?: string
}

interface Job {
  readonly uses?: string
  readonly steps?: readonly Step[]
  readonly 'timeout-minutes'?: number
  readonly container?: { readonly image: string }
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions: unknown
  readonly jobs: Readonly<Record<string, Job>>
}

const manifest = readJson('package.json') as {
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly overrides: Readonly<Record<string, unknown>>
}
const devcontainer = readJson('.devcontainer/devcontainer.json') as {
  readonly image: string
  readonly postCreateCommand: string
}
const workflows = globSync('.github/workflows/*.yml').map((file) => {
  const text = readFileSync(file, 'utf8')
  // The cast is sound: GitHub refuses a workflow without these.
  return { file, text, workflow: parse(text) as Workflow }
})
const jobs = workflows.flatMap(({ file, workflow }) =>
  Object.entries(workflow.jobs).map(([name, job]) => ({ name: `${file}: ${name}`, job })),
)

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** The scripts of npm that a text runs. */
function scriptsIn(text: string): readonly string[] {
  const run = [...text.matchAll(/\bnpm run (?:-s |--silent )?([\w:-]+)/g)].map(([, name = '']) => name)
  return [...run, ...[...text.matchAll(/\bnpm (test|start)\b/g)].map(([, name = '']) => name)]
}

t.test('what workflows, .ci and the devcontainer run is there', async (t) => {
  const commands = [
    ...jobs.flatMap(({ name, job: { steps = [] } }) => steps.map(({ run = '' }) => ({ of: name, run }))),
    ...globSync('.ci/*').map((file) => ({ of: file, run: readFileSync(file, 'utf8') })),
    { of: 'devcontainer', run: devcontainer.postCreateCommand },
  ]
  const scripts = commands.flatMap(({ of, run }) => scriptsIn(run).map((name) => ({ of, name })))
  const files = commands.flatMap(({ of, run }) =>
    [...run.matchAll(/\b(?:sh|node) ([\w./-]+)/g)].map(([, name = '']) => ({ of, name })),
  )
  t.ok(scripts.length >= 4 && files.length >= 2)
  for (const { of, name } of scripts) t.hasProp(manifest.scripts, name, `${of}: npm run ${name}`)
  for (const { of, name } of files) t.ok(existsSync(name), `${of}: ${name}`)
})

t.test('every script of npm that the documentation names is there', async (t) => {
  const pages = globSync([
    '*.md',
    'docs/*.md',
    'docs/operators/*.md',
    'bench/README.md',
    'test/security/README.md',
    '.github/**/*.yml',
  ])
  const unknown = pages.flatMap((page) =>
    scriptsIn(readFileSync(page, 'utf8'))
      .filter((name) => !Object.hasOwn(manifest.scripts, name))
      .map((name) => `${page}: npm run ${name}`),
  )
  t.ok(pages.length > 20)
  t.strictSame(unknown, [])
})

t.test(
  'a workflow reads only, unless a job says more, and nothing runs what a fork wrote with its rights',
  async (t) => {
    t.strictSame(workflows.map(({ file }) => file.replace('.github/workflows/', '')).toSorted(), [
      'ci.yml',
      'nightly.yml',
      'release.yml',
    ])
    for (const { file, workflow } of workflows) {
      t.strictSame(workflow.permissions, { contents: 'read' }, file)
      t.notOk('pull_request_target' in workflow.on, file)
    }
    for (const { name, job } of jobs)
      t.ok(job.uses !== undefined || Number(job['timeout-minutes']) <= 90, `${name} has a limit of time`)
  },
)

t.test('actions are pinned to a commit, and say of which version it is', async (t) => {
  const used = workflows.flatMap(({ text }) => text.match(/\buses: .+/g) ?? [])
  t.ok(used.length >= 5)
  for (const line of used) {
    const [, local] = /^uses: \.\/(\S+)$/.exec(line) ?? []
    if (local === undefined) t.match(line, /^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    else t.ok(existsSync(local), local)
  }
})

t.test('images of workflows, devcontainer and Dockerfile have the Node of a checkout', async (t) => {
  const { version } = readJson('tools/pinned-node/package.json') as { readonly version: string }
  const [, base] = /^ARG NODE_IMAGE=\S*\/(node:\S+?)@/m.exec(readFileSync('Dockerfile', 'utf8')) ?? []
  const images = [base, devcontainer.image, ...jobs.flatMap(({ job }) => job.container?.image ?? [])]
  t.equal(images.length, 3)
  for (const image of images) t.ok(image?.startsWith(`node:${version}-`), String(image))
})

t.test('editors indent and break lines as Biome does', async (t) => {
  const { formatter } = readJson('biome.json') as {
    readonly formatter: {
      readonly indentStyle: string
      readonly indentWidth: number
      readonly lineWidth: number
    }
  }
  const [, usual = ''] = /^\[\*\]\n((?:.+\n)+)/m.exec(readFileSync('.editorconfig', 'utf8')) ?? []
  const settings = Object.fromEntries(
    usual
      .trim()
      .split('\n')
      .map((line) => line.split(' = ')),
  )
  t.match(settings, {
    indent_style: formatter.indentStyle,
    indent_size: String(formatter.indentWidth),
    max_line_length: String(formatter.lineWidth),
    end_of_line: 'lf',
    insert_final_newline: 'true',
  })
})

t.test(
  'Renovate pins, runs no install scripts, and its rules are about packages that are here',
  async (t) => {
    const { rangeStrategy, ignoreScripts, packageRules } = readJson('.github/renovate.json') as {
      readonly rangeStrategy: string
      readonly ignoreScripts: boolean
      readonly packageRules: readonly { readonly matchPackageNames?: readonly string[] }[]
    }
    t.strictSame({ rangeStrategy, ignoreScripts }, { rangeStrategy: 'pin', ignoreScripts: true })
    const pinned = readJson('tools/pinned-node/package.json') as {
      readonly optionalDependencies: Readonly<Record<string, string>>
    }
    const { dependencies, devDependencies, overrides } = manifest
    const here = { ...dependencies, ...devDependencies, ...overrides, ...pinned.optionalDependencies }
    const named = packageRules.flatMap(({ matchPackageNames = [] }) => matchPackageNames)
    t.ok(named.length > 5)
    // Expressions, and the image of Node, are no packages of npm.
    const packages = named.filter((name) => !name.startsWith('/') && name !== 'node')
    for (const name of packages) t.hasProp(here, name)
  },
)

t.test('the form for issues asks for check and explain, and that no key is pasted', async (t) => {
  const { body } = parse(readFileSync('.github/ISSUE_TEMPLATE/bug.yml', 'utf8')) as {
    readonly body: readonly {
      readonly type: string
      readonly attributes: { readonly label?: string; readonly value?: string }
      readonly validations?: { readonly required: boolean }
    }[]
  }
  t.match(body[0]?.attributes.value, /Never paste a secret key/)
  for (const command of ['check', 'explain']) {
    const asked = body.find(({ attributes }) => attributes.label === `Output of \`gatehouse ${command}\``)
    t.equal(asked?.validations?.required, true, command)
  }
})

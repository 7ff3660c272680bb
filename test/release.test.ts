import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import t, { type Test } from 'tap'

/** Stands in for the build of a binary. */
const buildBinary = `const { mkdirSync, writeFileSync } = require('node:fs')
mkdirSync('binaries', { recursive: true })
writeFileSync('binaries/gatehouse-' + process.argv[2], process.argv[2])
`

/** A package as small as can be, to be released by .ci/release, with stand-ins for docker and git. */
function packageToRelease(t: Test, { changelog }: { readonly changelog: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-release-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  mkdirSync(join(folder, '.ci'))
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, 'tools'))
  cpSync('.ci/release', join(folder, '.ci/release'))
  write(
    'package.json',
    JSON.stringify({
      name: '@gatehouse-proxy/gateway',
      version: '1.2.3',
      files: ['a.txt'],
    }),
  )
  write('a.txt', 'a')
  mkdirSync(join(folder, 'deploy/helm/gatehouse'), { recursive: true })
  write('deploy/helm/gatehouse/Chart.yaml', 'name: gatehouse\n')
  write('tools/sbom.ts', "console.log('{}')")
  write('tools/build-binary.ts', buildBinary)
  write('CHANGELOG.md', changelog)
  write('bin/git', '#!/bin/sh\nif test "$1" = log; then echo 1700000000; else echo 0123abc; fi\n')
  write('bin/docker', '#!/bin/sh\necho "$*" >>docker.log\nif test "$1" = save; then echo image >"$3"; fi\n')
  for (const program of ['bin/git', 'bin/docker']) chmodSync(join(folder, program), 0o755)
  const { SOURCE_DATE_EPOCH: _, GITHUB_REPOSITORY: __, ...rest } = process.env
  const env = { ...rest, PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}` }
  return {
    folder,
    read: (name: string) => readFileSync(join(folder, name), 'utf8'),
    release: (tag: string, more = {}) =>
      spawnSync('sh', [join(folder, '.ci/release'), tag], { env: { ...env, ...more }, encoding: 'utf8' }),
  }
}

const changelog =
  '# Changelog\n\n## 1.2.3 - 2031-05-06\n\n- New ([how](docs/new.md)).\n\n## 1.2.2 - 2031-04-01\n\n- Old.\n'

t.test('a release has package, bill of materials and image, a checksum of each, and its notes', async (t) => {
  const { folder, read, release } = packageToRelease(t, { changelog })
  const { status, stderr } = release('v1.2.3')
  t.equal(status, 0, stderr)
  const files = [
    'gatehouse-1.2.3-chart.tgz',
    'gatehouse-1.2.3-darwin-arm64',
    'gatehouse-1.2.3-image.tar.gz',
    'gatehouse-1.2.3-linux-arm64',
    'gatehouse-1.2.3-linux-x64',
    'gatehouse-1.2.3.cdx.json',
    'gatehouse-proxy-gateway-1.2.3.tgz',
  ]
  t.strictSame(
    readdirSync(join(folder, 'release')).toSorted(),
    ['SHA256SUMS', ...files, 'notes.md'].toSorted(),
  )
  const sums = read('release/SHA256SUMS')
  t.strictSame([...sums.matchAll(/^[0-9a-f]{64} [ *](.+)$/gm)].map(([, name]) => name).toSorted(), files)
  execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: join(folder, 'release') })
  t.equal(read('release/notes.md').trim(), '- New ([how](docs/new.md)).')
  const listed = execFileSync('tar', ['--list', '--file', join(folder, 'release/gatehouse-1.2.3-chart.tgz')])
  t.equal(String(listed), 'gatehouse/\ngatehouse/Chart.yaml\n', 'as helm packs a chart')
  const label = '--label org.opencontainers.image'
  t.equal(
    read('docker.log').split('\n')[0],
    `build ${label}.revision=0123abc ${label}.created=2023-11-14T22:13:20Z --tag gatehouse:1.2.3 .`,
  )
})

t.test('the image says when it was made, and in a workflow of GitHub where it comes from', async (t) => {
  const { read, release } = packageToRelease(t, { changelog })
  const { status, stderr } = release('v1.2.3', {
    SOURCE_DATE_EPOCH: '1800000000',
    GITHUB_SERVER_URL: 'https://github.example.com',
    GITHUB_REPOSITORY: 'team/gatehouse',
  })
  t.equal(status, 0, stderr)
  const [build = ''] = read('docker.log').split('\n')
  for (const [name, value] of [
    ['created', '2027-01-15T08:00:00Z'],
    ['source', 'https://github.example.com/team/gatehouse'],
    ['url', 'https://github.example.com/team/gatehouse'],
    ['documentation', 'https://github.example.com/team/gatehouse/tree/v1.2.3/docs'],
  ])
    t.match(build, ` --label org.opencontainers.image.${name}=${value} `)
  t.match(
    read('release/notes.md'),
    '([how](https://github.example.com/team/gatehouse/blob/v1.2.3/docs/new.md))',
  )
})

t.test(
  'a tag of another version and a section without a date are refused, before anything is made',
  async (t) => {
    for (const [tag, text, reason] of [
      ['v1.2.4', changelog, /v1\.2\.4 is not the tag of version 1\.2\.3/],
      ['1.2.3', changelog, /1\.2\.3 is not the tag/],
      ['v1.2.3', changelog.replace('2031-05-06', 'Unreleased'), /no section/],
      ['v1.2.3', changelog.replace('1.2.3', '1.2.30'), /no section/],
    ] as const) {
      const { folder, release } = packageToRelease(t, { changelog: text })
      t.match(release(tag), { status: 1, stderr: reason })
      t.notOk(readdirSync(folder).includes('release'))
    }
  },
)

t.test('every file that names the version names that of package.json', async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }
  const named = {
    'package-lock.json': /^ {2}"version": "(.+)"/gm,
    Dockerfile: /image\.version="(.+?)"/g,
    'deploy/compose.yaml': /image: gatehouse:(\S+)/g,
    'deploy/kubernetes/kustomization.yaml': /newTag: (\S+)/g,
    'deploy/helm/gatehouse/Chart.yaml': /^(?:version|appVersion): (\S+)/gm,
    'README.md': /gatehouse-proxy-gateway-([\d.]+)\.tgz/g,
    'docs/deploying.md': /gatehouse-proxy-gateway-([\d.]+)\.tgz/g,
  }
  const page = readFileSync('docs/releasing.md', 'utf8')
  for (const [file, pattern] of Object.entries(named)) {
    const versions = [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, found]) => found)
    t.not(versions.length, 0, `${file} names it`)
    t.strictSame([...new Set(versions)], [version], file)
    t.match(page, file, `${file} is in docs/releasing.md`)
  }
})

/** A program that tests need. */
export interface Program {
  /** What it is called; any one will do. */
  readonly names: readonly string[]
  /** What shows that it is there; default: `--version`. */
  readonly probe?: readonly string[]
  readonly debianPackage: string
  readonly otherWay: string
}

/** What reads, validates and runs the files of `deploy/`. */
export const deploymentPrograms: readonly Program[] = [
  {
    names: ['docker-compose'],
    probe: ['version'],
    debianPackage: 'docker-compose',
    otherWay: 'pipx install docker-compose',
  },
  { names: ['promtool'], debianPackage: 'prometheus', otherWay: 'brew install prometheus' },
  { names: ['systemd-analyze'], debianPackage: 'systemd', otherWay: 'a Linux that has it' },
  {
    names: ['kubectl'],
    probe: ['version', '--client'],
    debianPackage: 'kubernetes-client',
    otherWay: 'brew install kubernetes-cli',
  },
  { names: ['go'], probe: ['version'], debianPackage: 'golang-go', otherWay: 'brew install go' },
  // The functions of templates of Helm, which Debian does not have.
  ...[
    { library: 'github.com/Masterminds/sprig', debianPackage: 'golang-github-masterminds-sprig-dev' },
    { library: 'gopkg.in/yaml.v3', debianPackage: 'golang-gopkg-yaml.v3-dev' },
  ].map(({ library, debianPackage }) => ({
    names: ['test'],
    probe: ['-d', `/usr/share/gocode/src/${library}`],
    debianPackage,
    otherWay: `the sources of ${library} in /usr/share/gocode/src`,
  })),
  { names: ['ip'], probe: ['-V'], debianPackage: 'iproute2', otherWay: 'a Linux that has it' },
]

import { spawnSync } from 'node:child_process'
import { chooseTool } from './tool.ts'

/**
 * Builds the image from the Dockerfile as it stands and tries it: `npm run image`. With `--optional` a machine that has
 * nothing to build it with is no failure: it is said.
 */

const tool = chooseTool()
if (tool === undefined) {
  console.error(
    'image: NOT BUILT AND NOT TRIED. It needs docker or podman with a running engine or, on Debian x64, root to install buildah and debootstrap.',
  )
  process.exitCode = process.argv.includes('--optional') ? 0 : 1
} else {
  console.error(`image: building with ${tool}`)
  const file = 'test/deploy/image/image.ts'
  // In a pipe nothing is rewritten, and only a failure has something to show.
  const isTerminal = process.stdout.isTTY
  const { status, stdout } = spawnSync(
    'tap',
    ['--timeout=900', `--reporter=${isTerminal ? 'terse' : 'tap'}`, file],
    {
      stdio: ['inherit', isTerminal ? 'inherit' : 'pipe', 'inherit'],
      encoding: 'utf8',
      maxBuffer: 64 * 1_048_576,
      env: { ...process.env, GATEHOUSE_IMAGE_TOOL: tool },
    },
  )
  if (status === 0) console.error('image: built, and works')
  else if (!isTerminal) process.stdout.write(stdout)
  process.exitCode = status ?? 1
}

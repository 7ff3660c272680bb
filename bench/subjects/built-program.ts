import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Builds `dist/`, the program as the package and the image have it. @throws Error if the build fails */
export function buildProgram(checkout: string): void {
  const { status, stderr } = spawnSync(process.execPath, ['tools/build.ts'], {
    cwd: checkout,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the build failed: ${stderr}`)
}

/** Starts the built program, which writes the file once it is ready. */
export function serveCommand(checkout: string, config: string, readyFile: string): readonly string[] {
  const program = join(checkout, 'dist/main.js')
  return [process.execPath, program, 'serve', '--config', config, '--ready-file', readyFile]
}

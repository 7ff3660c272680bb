import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from './programs.ts'

const program = `
import sys, zipfile
folder, name = sys.argv[1:]
info = name + "-1.0.dist-info/"
with zipfile.ZipFile(folder + "/" + name + "-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: " + name + "\\nVersion: 1.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")`

/** A package that pip can download. */
export async function sampleWheel(
  folder: string,
  name: string,
): Promise<{ readonly name: string; readonly content: Buffer }> {
  await runProgram(['python3', '-c', program, folder, name], { cwd: folder })
  const file = `${name}-1.0-py3-none-any.whl`
  return { name: file, content: readFileSync(join(folder, file)) }
}

import { spawnSync } from 'node:child_process';
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { bundleDeclarations } from './bundle-declarations.ts';
import { emitDeclarations, listWorkspaceModules } from './emit-declarations.ts';

const ROOT = join(import.meta.dirname, '../../../../..');
const FACE = 'packages/plugins/src/public.ts';

/**
 * The lines that compare an export in both directions: the type itself, or the type of the value.
 */
function comparison(line: string, contract: string): readonly string[] {
  const [, type, name = ''] = /^export \{ (type )?(\w+) \}/.exec(line) ?? [];
  if (name === 'z') return [];
  const isGeneric = new RegExp(`(interface|type|class) ${name}<`).test(contract);
  const [published, own] = ['Published', 'Own'].map((from) =>
    type === undefined ? `typeof ${from}.${name}` : `${from}.${name}${isGeneric ? '<Given>' : ''}`,
  );
  return [`fits<${published}, ${own}>();`, `fits<${own}, ${published}>();`];
}

it('[U06] [P16] the published types match the sources in both directions', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-published-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { files, emitted } = emitDeclarations(ROOT, [FACE], folder);
  // Types from two copies of zod are never compatible, and neither are two classes with private
  // fields.
  const outside = (module: string) => (module === 'zod' ? 'zod' : undefined);
  const faces = new Map([['plugin', emitted(FACE)]]);
  const { contract, entries } = bundleDeclarations(faces, { ...files, outside });
  mkdirSync(join(folder, 'published'));
  const entry = entries.get('plugin') ?? '';
  writeFileSync(join(folder, 'published/contract.d.ts'), contract);
  writeFileSync(join(folder, 'published/plugin.d.ts'), entry);
  for (const file of globSync('{packages,published}/**/*.d.ts', { cwd: folder })) {
    const text = readFileSync(join(folder, file), 'utf8');
    const open = text.replaceAll(/#private;|\bprotected /g, '');
    if (open !== text) writeFileSync(join(folder, file), open);
  }
  const lines = entry
    .trimEnd()
    .split('\n')
    .flatMap((line) => comparison(line, contract));
  expect(lines.length).toBeGreaterThan(100);
  writeFileSync(
    join(folder, 'compared.ts'),
    [
      "import type * as Published from './published/plugin.ts';",
      "import type * as Own from './packages/plugins/src/public.ts';",
      'type Given = { readonly given: string };',
      'declare function fits<A extends B, B>(): void;',
      ...lines,
      // Proves that the comparison can fail.
      '// @ts-expect-error',
      'fits<Published.Receipt, Own.Button>();',
    ].join('\n'),
  );
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const paths = Object.fromEntries(
    [...listWorkspaceModules(ROOT)].map(([name, file]) => [
      name,
      [join(folder, file.slice(ROOT.length + 1))],
    ]),
  );
  const compilerOptions = {
    paths,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
  };
  const config = join(folder, 'compared.json');
  const settings = { extends: join(ROOT, 'tsconfig.json'), compilerOptions };
  writeFileSync(config, JSON.stringify({ ...settings, files: ['compared.ts'], include: [] }));
  const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', config], {
    encoding: 'utf8',
  });
  expect(stdout).toBe('');
});

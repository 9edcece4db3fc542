import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, normalize } from 'node:path';
import { z } from 'zod';
import { bundleDeclarations } from './bundle-declarations.ts';
import { emitDeclarations } from './emit-declarations.ts';

/** The part of package.json that names the published modules: their types and their sources. */
const Published = z.object({
  exports: z.record(
    z.string(),
    z.union([z.string(), z.object({ types: z.string(), default: z.string() })]),
  ),
});

/**
 * Writes the types for plugin authors into `types/`. They are generated from the sources, so they
 * always match what Parley accepts. They do not depend on any other package: zod's types are
 * copied.
 */
export function buildTypes(root: string): void {
  const work = mkdtempSync(join(tmpdir(), 'parley-types-'));
  // In the same folder as the final `types/`, so that one rename puts it in place.
  const part = mkdtempSync(join(root, 'types-'));
  try {
    const published = listPublishedModules(root);
    const { files, emitted } = emitDeclarations(root, [...published.values()], work);
    const entries = new Map([...published].map(([name, source]) => [name, emitted(source)]));
    const bundle = bundleDeclarations(entries, files);
    writeFileSync(join(part, 'contract.d.ts'), bundle.contract);
    for (const [name, text] of bundle.entries) writeFileSync(join(part, `${name}.d.ts`), text);
    copyZod(root, join(part, 'zod'));
    rmSync(join(root, 'types'), { recursive: true, force: true });
    renameSync(part, join(root, 'types'));
  } finally {
    for (const folder of [work, part]) rmSync(folder, { recursive: true, force: true });
  }
}

/** The source files of the modules with published types, keyed by the file names of the types. */
function listPublishedModules(root: string): ReadonlyMap<string, string> {
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const found = Object.values(Published.parse(manifest).exports).flatMap((one) =>
    typeof one === 'string'
      ? []
      : [[basename(one.types, '.d.ts'), normalize(one.default)] as const],
  );
  return new Map(found);
}

/** Copies the types of zod that its main module needs. */
function copyZod(root: string, to: string): void {
  const from = join(root, 'node_modules/zod');
  const open = ['index.d.ts'];
  const seen = new Set<string>();
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const text = readFileSync(join(from, file), 'utf8');
    mkdirSync(dirname(join(to, file)), { recursive: true });
    writeFileSync(join(to, file), text);
    for (const [, path = ''] of text.matchAll(/(?:from |import\()"(\.[^"]+)\.js"/g)) {
      open.push(join(dirname(file), `${path}.d.ts`));
    }
  }
}

import { basename } from 'node:path';
import { z } from 'zod';

const Manifest = z.looseObject({
  name: z.string(),
  version: z.string(),
  files: z.array(z.string()),
  exports: z.record(
    z.string(),
    z.union([z.string(), z.object({ types: z.string(), default: z.string() })]),
  ),
});

export type Manifest = z.infer<typeof Manifest>;

export function parseManifest(text: string): Manifest {
  return Manifest.parse(JSON.parse(text));
}

/**
 * Fields that are needed only when working on the sources. Without `scripts`, npm does not try to
 * build an installed package; it would run `prepare` when a package is linked into another.
 */
const FOR_SOURCES: ReadonlySet<string> = new Set([
  ...['scripts', 'workspaces', 'devDependencies', 'packageManager', 'allowScripts', 'files'],
]);

/**
 * Returns the package.json of the release: the fields needed only for the sources are omitted, and
 * source files are replaced by modules in the bundle.
 */
export function createPackedManifest(
  manifest: Manifest,
  { hash, hasTypes }: { readonly hash: string; readonly hasTypes: boolean },
): Record<string, unknown> {
  const kept = Object.entries(manifest).filter(([field]) => !FOR_SOURCES.has(field));
  const exports = Object.entries(manifest.exports).map(([name, target]) => {
    if (typeof target === 'string') return [name, target];
    const module = `./dist/${hash}/${basename(target.types, '.d.ts')}.mjs`;
    return [name, { ...(hasTypes && { types: target.types }), default: module }];
  });
  return { ...Object.fromEntries(kept), exports: Object.fromEntries(exports) };
}

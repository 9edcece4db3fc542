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

/** The package.json of the repository, as far as packing depends on it. */
export type Manifest = z.infer<typeof Manifest>;

export function parseManifest(text: string): Manifest {
  return Manifest.parse(JSON.parse(text));
}

/**
 * Fields for work on the sources. Without `scripts`, nothing tries to build an installed package:
 * npm runs `prepare` of a package that is linked to another.
 */
const FOR_SOURCES: ReadonlySet<string> = new Set([
  ...['scripts', 'workspaces', 'devDependencies', 'packageManager', 'allowScripts', 'files'],
]);

/**
 * The package.json of the packed release: without what only the sources need, and with modules of
 * the bundle in place of sources.
 */
export function packedManifest(
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

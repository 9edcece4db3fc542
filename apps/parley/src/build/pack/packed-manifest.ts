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

/** The fields of the repository's package.json that packing uses. */
export type Manifest = z.infer<typeof Manifest>;

export function parseManifest(text: string): Manifest {
  return Manifest.parse(JSON.parse(text));
}

/**
 * Fields that are needed only when working on the sources. Omitting `scripts` keeps npm from
 * building an installed package: it runs `prepare` when a package is linked into another.
 */
const FOR_SOURCES: ReadonlySet<string> = new Set([
  ...['scripts', 'workspaces', 'devDependencies', 'packageManager', 'allowScripts', 'files'],
]);

/**
 * Returns the package.json of the release, without the fields for the sources, and with modules of
 * the bundle in place of source files.
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

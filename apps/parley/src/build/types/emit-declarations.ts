import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { DeclarationFiles } from './declaration-graph.ts';
import { documentMembers } from './document-members.ts';

const compilerIn = (root: string): string => join(root, 'node_modules/.bin/tsc');

/**
 * Runs the compiler to write a declaration file for each source and for everything it imports. An
 * app's modules declare the types of their exports explicitly, so their imports, which amount to
 * the whole program, are not read.
 * @returns the declarations, and a function that returns the file name of a source's declaration
 */
export function emitDeclarations(root: string, sources: readonly string[], folder: string) {
  const ofApps = sources.filter((source) => source.startsWith('apps/'));
  const others = sources.filter((source) => !ofApps.includes(source));
  runCompiler(root, folder, others, {});
  runCompiler(
    root,
    folder,
    ofApps.flatMap((source) => listSiblingFiles(root, source)),
    { noResolve: true },
  );
  const emitted = (source: string): string => join(folder, declarationOf(source));
  const missing = sources.find((source) => !existsSync(emitted(source)));
  if (missing !== undefined) throw new Error(`The compiler did not write types for ${missing}.`);
  return { files: collectEmittedFiles(root, folder), emitted };
}

const declarationOf = (source: string): string => source.replace(/\.ts$/, '.d.ts');

function listSiblingFiles(root: string, source: string): string[] {
  const folder = dirname(source);
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join(folder, name));
}

/**
 * The compiler reports types that cannot be written down as errors. If the published types need one
 * of these, bundling fails; otherwise the error does not matter.
 */
function runCompiler(root: string, folder: string, sources: readonly string[], how: object): void {
  const config = join(folder, 'tsconfig.json');
  const compilerOptions = {
    ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, noCheck: true, ...how },
    ...{ outDir: folder, rootDir: root, typeRoots: [join(root, 'node_modules/@types')] },
    paths: Object.fromEntries(
      [...listWorkspaceModules(root)].map(([name, file]) => [name, [file]]),
    ),
  };
  const files = sources.map((source) => join(root, source));
  const settings = { extends: join(root, 'tsconfig.json'), compilerOptions, files, include: [] };
  writeFileSync(config, JSON.stringify(settings));
  const { error } = spawnSync(compilerIn(root), ['-p', config]);
  if (error !== undefined) throw error;
}

/** The modules of Parley's packages, such as `@parley/core/timeline`, and their sources. */
export function listWorkspaceModules(root: string): ReadonlyMap<string, string> {
  const packages = join(root, 'packages');
  const found = readdirSync(packages).flatMap((name) => {
    const folder = join(packages, name);
    if (!existsSync(join(folder, 'package.json'))) return [];
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return Object.entries<string>(manifest.exports ?? {}).map(
      ([path, file]) => [join(manifest.name, path), join(folder, file)] as const,
    );
  });
  return new Map(found);
}

function collectEmittedFiles(root: string, folder: string): DeclarationFiles {
  const modules = listWorkspaceModules(root);
  return {
    read(file) {
      const source = join(root, relative(folder, file)).replace(/\.d\.ts$/, '.ts');
      return documentMembers(readFileSync(file, 'utf8'), readFileSync(source, 'utf8'));
    },
    locate(module, from) {
      if (module.startsWith('.')) return join(dirname(from), declarationOf(module));
      const source = modules.get(module);
      return source && join(folder, declarationOf(relative(root, source)));
    },
    outside: (module) => (module === 'zod' ? './zod/index.js' : undefined),
  };
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const Manifest = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string().default('see its text'),
});

/** A library in the bundle. */
export interface BundledLibrary {
  readonly name: string;
  readonly version: string;
  /** The SPDX expression for its license. */
  readonly license: string;
  /** The license text to distribute with the library; empty if its package has no license file. */
  readonly text: string;
}

/**
 * Lists the libraries that contain these files, sorted by name. `inputs` are esbuild's absolute
 * paths.
 */
export function listBundledLibraries(inputs: readonly string[]): BundledLibrary[] {
  const folders = inputs.map((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  const found = [...new Set(folders)].filter((folder) => folder !== undefined).map(readLibrary);
  return found.sort((a, b) => (libraryKey(a) < libraryKey(b) ? -1 : 1));
}

const libraryKey = ({ name, version }: BundledLibrary): string => `${name}@${version}`;

function readLibrary(folder: string): BundledLibrary {
  const manifest = Manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  const texts = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(licen[sc]e|copying|notice)/i.test(entry.name))
    .map(({ name }) => readFileSync(join(folder, name), 'utf8').trim());
  return { ...manifest, text: texts.join('\n\n') };
}

/** Formats the licenses of all libraries as one readable text. */
export function formatLicenses(libraries: readonly BundledLibrary[]): string {
  const parts = libraries.map(({ name, version, license, text }) =>
    `${name} ${version}, ${license}\n\n${text}`.trim(),
  );
  const head = 'Parley contains these libraries, each under the license of its authors.';
  return [head, ...parts].join(`\n\n${'-'.repeat(80)}\n\n`).concat('\n');
}

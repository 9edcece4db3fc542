import { z } from 'zod';

/** A package of the lockfile, as npm writes it. */
export interface LockedLibrary {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  /** Needed by an optional package and by tests. */
  readonly devOptional?: boolean;
  readonly link?: boolean;
}

/** Licenses that only require their text to be included. */
const FREE = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC-BY-3.0',
  'CC-BY-4.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'Python-2.0',
  'Unlicense',
  'Zlib',
]);

/**
 * Packages under a GPL, or without a license that npm knows, and why each is acceptable. All are
 * optional or only used by tests.
 */
const NAMED: Readonly<Record<string, string>> = {
  libsignal: 'a part of Baileys, for WhatsApp: optional, and in no bundle',
  '@img/sharp-': 'the libraries of sharp, for pictures: optional, loaded at run time',
};

/** Problems with the licenses, and the packages that a person should know about. */
export function findLicenseProblems(libraries: Readonly<Record<string, LockedLibrary>>): {
  readonly named: readonly string[];
  readonly wrong: readonly string[];
} {
  const named: string[] = [];
  const wrong: string[] = [];
  for (const [path, library] of Object.entries(libraries)) {
    // Parley's own packages are outside node_modules, except for links.
    if (!path.includes('node_modules/') || library.link) continue;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const { license = 'none', version = '', dev = false } = library;
    const optional = library.optional === true || library.devOptional === true;
    if (isFree(license) || dev) continue;
    const why = Object.entries(NAMED).find(([start]) => name.startsWith(start))?.[1];
    const line = `${name} ${version}, ${license}`;
    if (why !== undefined && optional) named.push(`${line}: ${why}`);
    else wrong.push(`${line} is neither a free license nor a named optional part.`);
  }
  return { named, wrong };
}

/**
 * `(MIT OR GPL-3.0)` is permissive, because one may choose. For `A AND B`, both licenses have to be
 * permissive.
 */
function isFree(license: string): boolean {
  const alternatives = license.replace(/[()]/g, '').split(' OR ');
  return alternatives.some((one) => one.split(' AND ').every((part) => FREE.has(part.trim())));
}

/** The registry's advisories for the installed versions, if it answers. */
export type AdvisoryReport =
  | { readonly kind: 'answered'; readonly lines: readonly string[] }
  | { readonly kind: 'silent'; readonly reason: string };

const Audit = z.object({
  vulnerabilities: z.record(z.string(), z.object({ severity: z.string(), range: z.string() })),
});

/** Parses the output of `npm audit --json`. */
export function parseAdvisories(printed: string): AdvisoryReport {
  try {
    const found = Audit.safeParse(JSON.parse(printed));
    if (!found.success) return { kind: 'silent', reason: printed.trim().slice(0, 200) };
    const lines = Object.entries(found.data.vulnerabilities).map(
      ([name, { severity, range }]) => `${name} ${range} has an advisory: ${severity}.`,
    );
    return { kind: 'answered', lines };
  } catch {
    return { kind: 'silent', reason: printed.trim().slice(0, 200) || 'nothing was printed' };
  }
}

import {
  type DeclarationFiles,
  DeclarationGraph,
  type ExportedName,
  type NameTarget,
  type ResolvedReference,
  toTargetKey,
} from './declaration-graph.ts';

/** One file with all declarations, and one file per entry that re-exports the entry's names. */
export interface DeclarationBundle {
  readonly contract: string;
  readonly entries: ReadonlyMap<string, string>;
}

/**
 * Joins declaration files into a single file that does not refer to any of them. It contains what
 * the entries export and everything that these exports need. Throws if a declaration needs a
 * package that must not be imported.
 * @param entries the files to start from, keyed by entry name
 */
export function bundleDeclarations(
  entries: ReadonlyMap<string, string>,
  files: DeclarationFiles,
): DeclarationBundle {
  const graph = new DeclarationGraph(files);
  const names = new BundleNames();
  const exported = [...entries].map(([entry, file]) => [entry, graph.exportsOf(file)] as const);
  for (const [, all] of exported) for (const { name, target } of all) names.give(target, name);
  const body = new Map<string, { readonly start: number; readonly text: string }[]>();
  const open = exported.flatMap(([, all]) => all.map(({ target }) => target));
  const seen = new Set<string>();
  for (let target = open.pop(); target !== undefined; target = open.pop()) {
    if (target.kind === 'outside' || seen.has(toTargetKey(target))) continue;
    seen.add(toTargetKey(target));
    const { file } = target;
    for (const { start, text, references } of graph.declarationsOf(target)) {
      const resolved = references.flatMap((reference) => graph.resolve(reference, file) ?? []);
      open.push(...resolved.map((one) => one.target));
      const printed = printDeclaration(text, resolved, names);
      body.set(file, [...(body.get(file) ?? []), { start, text: printed }]);
    }
  }
  const declared = [...body.keys()].toSorted().flatMap((file) => {
    const all = body.get(file) ?? [];
    return all.toSorted((a, b) => a.start - b.start).map(({ text }) => text);
  });
  return {
    contract: `${[...names.imports(), ...declared].join('\n\n')}\n`,
    entries: new Map(exported.map(([entry, all]) => [entry, formatEntry(all, graph, names)])),
  };
}

/**
 * Returns a declaration as an export, with its references replaced by their names in the bundle.
 */
function printDeclaration(
  text: string,
  references: readonly ResolvedReference[],
  names: BundleNames,
): string {
  const printed = references
    .toSorted((a, b) => b.start - a.start)
    .reduce((all, { start, end, target }) => {
      return all.slice(0, start) + names.nameOf(target) + all.slice(end);
    }, text);
  return printed.replace(/^(\/\*[\s\S]*?\*\/\n)?/, '$1export ');
}

function formatEntry(
  all: readonly ExportedName[],
  graph: DeclarationGraph,
  names: BundleNames,
): string {
  const lines = all.map(({ name, target, isTypeOnly }) => {
    if (target.kind === 'outside') return `export { ${target.name} } from '${target.from}';`;
    const isType = isTypeOnly || graph.declarationsOf(target).every(({ isValue }) => !isValue);
    const own = names.nameOf(target);
    const what = own === name ? name : `${own} as ${name}`;
    return `export { ${isType ? 'type ' : ''}${what} } from './contract.js';`;
  });
  return `${lines.join('\n')}\n`;
}

/** The names in the bundle; each one belongs to a single declaration. */
class BundleNames {
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #imports = new Set<string>();

  nameOf(target: NameTarget): string {
    const known = this.#names.get(toTargetKey(target));
    if (known !== undefined) return known;
    let name = target.name;
    for (let count = 2; this.#taken.has(name); count += 1) name = `${target.name}${count}`;
    this.give(target, name);
    return name;
  }

  /** Assigns this name to a declaration, unless the name or the declaration is already taken. */
  give(target: NameTarget, name: string): void {
    if (this.#names.has(toTargetKey(target)) || this.#taken.has(name)) return;
    this.#names.set(toTargetKey(target), name);
    this.#taken.add(name);
    if (target.kind === 'own') return;
    const what = target.name === name ? name : `${target.name} as ${name}`;
    this.#imports.add(`import { ${what} } from '${target.from}';`);
  }

  imports(): readonly string[] {
    return [...this.#imports].toSorted();
  }
}

import {
  type Declaration,
  type DeclarationModule,
  type ImportedName,
  parseDeclarations,
  type Reference,
} from './declaration-module.ts';

/** Reads and locates declaration files. Any unique string can identify a file. */
export interface DeclarationFiles {
  read(file: string): string;
  /** The file to which a module name resolves; undefined for packages by other authors. */
  locate(module: string, from: string): string | undefined;
  /**
   * The name under which the bundle imports a package by other authors; undefined if the bundle
   * must not import it.
   */
  outside(module: string): string | undefined;
}

/** What a name refers to: a declaration in a file, or an import from a package by other authors. */
export type NameTarget =
  | { readonly kind: 'own'; readonly file: string; readonly name: string }
  | { readonly kind: 'outside'; readonly from: string; readonly name: string };

export function toTargetKey(target: NameTarget): string {
  return `${target.kind === 'own' ? target.file : target.from} ${target.name}`;
}

export interface ExportedName {
  readonly name: string;
  readonly target: NameTarget;
  readonly isTypeOnly: boolean;
}

/** A reference in a declaration, and the target to which it resolves. */
export interface ResolvedReference {
  readonly start: number;
  readonly end: number;
  readonly target: NameTarget;
}

/** Resolves names across declaration files; each file is read once. */
export class DeclarationGraph {
  readonly #files: DeclarationFiles;
  readonly #modules = new Map<string, DeclarationModule>();

  constructor(files: DeclarationFiles) {
    this.#files = files;
  }

  /** Returns all names that a file exports itself; throws if one of them is not declared. */
  exportsOf(file: string): readonly ExportedName[] {
    const { exports, typesOnly } = this.#module(file);
    return [...exports.keys()].toSorted().map((name) => ({
      name,
      target: this.#exported(file, name),
      isTypeOnly: typesOnly.has(name),
    }));
  }

  declarationsOf({ file, name }: NameTarget & { readonly kind: 'own' }): readonly Declaration[] {
    return this.#module(file).declarations.get(name) ?? [];
  }

  /** Resolves a reference; returns null for a built-in name such as `Promise`. */
  resolve({ start, end, to, member }: Reference, file: string): ResolvedReference | null {
    const found = typeof to === 'string' ? this.#local(file, to) : to;
    if (found === null) return null;
    if ('kind' in found) return { start, end, target: found };
    if (found.name !== '*') return { start, end, target: this.#foreign(found, file) };
    if (member === undefined) throw new Error(`${file} uses the whole module ${found.module}.`);
    const target = this.#foreign({ ...found, name: member.name }, file);
    return { start, end: member.end, target };
  }

  #local(file: string, name: string): NameTarget | ImportedName | null {
    const { declarations, imports } = this.#module(file);
    if (declarations.has(name)) return { kind: 'own', file, name };
    return imports.get(name) ?? null;
  }

  #foreign({ module, name }: ImportedName, from: string): NameTarget {
    const file = this.#files.locate(module, from);
    if (file !== undefined) return this.#exported(file, name);
    const path = this.#files.outside(module);
    if (path !== undefined) return { kind: 'outside', from: path, name };
    throw new Error(
      `The published types would need ${name} from the package ${module}, which ${from} imports. Use one of Parley's own types there.`,
    );
  }

  #exported(file: string, name: string): NameTarget {
    const found = this.#findExport(file, name, new Set());
    if (found === undefined) throw new Error(`${file} does not export ${name}.`);
    return found;
  }

  #findExport(file: string, name: string, seen: Set<string>): NameTarget | undefined {
    if (seen.has(file)) return undefined;
    seen.add(file);
    const { exports, stars } = this.#module(file);
    const to = exports.get(name);
    if (typeof to === 'object') return this.#foreign(to, file);
    if (to !== undefined) {
      const local = this.#local(file, to);
      if (local === null) return undefined;
      return 'kind' in local ? local : this.#foreign(local, file);
    }
    for (const module of stars) {
      const next = this.#files.locate(module, file);
      const found = next && this.#findExport(next, name, seen);
      if (found) return found;
    }
    return undefined;
  }

  #module(file: string): DeclarationModule {
    const known = this.#modules.get(file) ?? parseDeclarations(file, this.#files.read(file));
    this.#modules.set(file, known);
    return known;
  }
}

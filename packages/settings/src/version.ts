import { type Document, isMap, isNode, isScalar, type Node, type Pair, YAMLMap } from 'yaml';
import manifest from '../package.json' with { type: 'json' };
import {
  LARGEST_SETTINGS_BYTES,
  parseForWriting,
  readTextFile,
  useDraft,
  writeDraft,
} from './settings-file.ts';
import type { SettingsPath } from './source.ts';

/**
 * One change of a settings file. `move` takes a key to another name or section, with its comments;
 * `change` writes another value. Neither does anything where there is nothing, or something already.
 */
export type SettingsEdit =
  | { readonly kind: 'move'; readonly from: SettingsPath; readonly to: SettingsPath }
  | {
      readonly kind: 'change';
      readonly at: SettingsPath;
      readonly value: (before: unknown) => unknown;
    };

/** What makes a file of the version before into one of version `to`. */
export interface SettingsStep {
  readonly to: number;
  readonly edits: readonly SettingsEdit[];
}

/** All steps there ever were, in order, from version 1 on. None was needed yet. */
export const SETTINGS_STEPS: readonly SettingsStep[] = [];

/** The version of a file, compared with this Parley's. `writtenBy`: the Parley that wrote the version, if it says so. */
export type VersionCheck =
  | { readonly kind: 'current' }
  | { readonly kind: 'upgraded'; readonly from: number; readonly to: number }
  | { readonly kind: 'newer'; readonly version: number; readonly writtenBy: string | null };

/** The version of settings that this Parley writes. */
export function newestVersion(steps: readonly SettingsStep[]): number {
  return steps.at(-1)?.to ?? 1;
}

/** The line that says which version a file has, and which Parley wrote it. */
export function versionLine(version: number): string {
  return `version: ${version} # Parley ${manifest.version}`;
}

/**
 * Brings a file up to date in memory, on its YAML nodes: what they know of comments and places stays
 * with them. A file without a version is of version 1; one that is no whole number is left to the schema.
 */
export function upgradeDocument(document: Document, steps: readonly SettingsStep[]): VersionCheck {
  const written = document.getIn(['version'], true);
  const value = isScalar(written) ? written.value : 1;
  const from = Number.isSafeInteger(value) ? Number(value) : 1;
  const to = newestVersion(steps);
  if (from > to) {
    const comment = isScalar(written) ? (written.comment ?? '') : '';
    const writtenBy = /Parley (\d[\w.-]*)/.exec(comment)?.[1] ?? null;
    return { kind: 'newer', version: from, writtenBy };
  }
  const missing = steps.filter((step) => step.to > from);
  if (missing.length === 0) return { kind: 'current' };
  for (const { edits } of missing) for (const edit of edits) apply(document, edit);
  setVersion(document, to);
  return { kind: 'upgraded', from, to };
}

function apply(document: Document, edit: SettingsEdit): void {
  if (edit.kind === 'change') {
    if (document.hasIn(edit.at)) document.setIn(edit.at, edit.value(document.getIn(edit.at)));
    return;
  }
  if (!document.hasIn(edit.from) || document.hasIn(edit.to)) return;
  const pair = pairAt(document, edit.from);
  const name = edit.to.at(-1);
  if (pair === undefined || !isScalar(pair.key)) return;
  pair.key.value = name;
  if (String(edit.from.slice(0, -1)) === String(edit.to.slice(0, -1))) return;
  document.deleteIn([...edit.from.slice(0, -1), name]);
  sectionAt(document, edit.to.slice(0, -1)).items.push(pair);
}

/** The block at a path, made where there is none. */
export function sectionAt(document: Document, path: SettingsPath): YAMLMap {
  const found = at(document, path);
  if (isMap(found)) return found;
  const section = new YAMLMap();
  const pair = pairAt(document, path);
  if (pair !== undefined) {
    if (isNode(pair.value)) keepComments(pair.value, section);
    pair.value = section;
  } else if (path.length === 0) document.contents = section;
  else {
    const key = document.createNode(path.at(-1));
    sectionAt(document, path.slice(0, -1)).items.push(document.createPair(key, section));
  }
  return section;
}

/** Settings that are commented out belong, for YAML, to the empty value above them. */
export function keepComments(from: Node, to: Node): void {
  to.comment ??= from.comment ?? null;
  to.commentBefore ??= from.commentBefore ?? null;
}

export function pairAt(document: Document, path: SettingsPath): Pair | undefined {
  const parent = at(document, path.slice(0, -1));
  if (!isMap(parent)) return undefined;
  return parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1));
}

function at(document: Document, path: SettingsPath): unknown {
  return path.length === 0 ? document.contents : document.getIn(path, true);
}

function setVersion(document: Document, version: number): void {
  const node = document.createNode(version);
  node.comment = ` Parley ${manifest.version}`;
  const known = pairAt(document, ['version']);
  if (known !== undefined) known.value = node;
  else sectionAt(document, []).items.unshift(document.createPair('version', node));
}

/** What became of the file; `kept` is where the old one lies. */
export type SettingsUpgrade =
  | Exclude<VersionCheck, { kind: 'upgraded' }>
  | { readonly kind: 'missing' | 'broken' }
  | {
      readonly kind: 'upgraded';
      readonly from: number;
      readonly to: number;
      readonly kept: string;
    };

/**
 * Writes an older settings file as this Parley's version has it, comments kept, and leaves the old one
 * beside it. Throws `SettingsError` when the file cannot be read or written; a broken one is left alone.
 */
export function upgradeSettings(
  file: string,
  steps: readonly SettingsStep[] = SETTINGS_STEPS,
): SettingsUpgrade {
  const read = readTextFile(file, LARGEST_SETTINGS_BYTES);
  if (read.kind === 'missing') return { kind: 'missing' };
  const document = parseForWriting(read.text);
  if (document.errors.length > 0) return { kind: 'broken' };
  const check = upgradeDocument(document, steps);
  if (check.kind !== 'upgraded') return check;
  const kept = `${file}.version-${check.from}`;
  writeDraft(file, document.toString({ lineWidth: 0 }));
  useDraft(file, kept);
  return { ...check, kept };
}

import { fieldsOf } from '../chat/wire.ts';
import { listOf, numberOf, textOf } from '../prompt/read-prompt.ts';

/** What can be done about a version. */
export type SoulAction = 'apply' | 'veto' | 'rollback';

/** One version of SOUL.md, or a proposal for one. Its texts were written by people and models. */
export interface SoulVersion {
  readonly number: number;
  /** `v0-seed`, `v3`. */
  readonly name: string;
  readonly origin: string;
  readonly reason: string;
  readonly state: string;
  /** Where it stands, in words. */
  readonly standing: string;
  readonly score: string;
  readonly findings: readonly string[];
  readonly diff: string;
  readonly text: string;
  /** In ms. */
  readonly createdAt: number;
  /** The version that the difference is against; null: it is the first. */
  readonly basedOn: number | null;
  readonly can: readonly SoulAction[];
}

/** Reads the list, newest first; entries that this page cannot show are left out. */
export function readVersions(data: unknown): readonly SoulVersion[] {
  return listOf(fieldsOf(data).versions).flatMap((entry) => readVersion(entry) ?? []);
}

function readVersion(data: unknown): SoulVersion | null {
  const fields = fieldsOf(data);
  if (typeof fields.number !== 'number') return null;
  return {
    number: fields.number,
    name: textOf(fields.name),
    origin: textOf(fields.origin),
    reason: textOf(fields.reason),
    state: textOf(fields.state),
    standing: textOf(fields.standing),
    score: textOf(fields.score),
    findings: listOf(fields.findings).map(textOf),
    diff: textOf(fields.diff),
    text: textOf(fields.text),
    createdAt: numberOf(fields.createdAt),
    basedOn: typeof fields.basedOn === 'number' ? fields.basedOn : null,
    can: listOf(fields.can).flatMap((word) =>
      word === 'apply' || word === 'veto' || word === 'rollback' ? [word] : [],
    ),
  };
}

import { z } from 'zod';
import { readFrontMatter } from '../front-matter.ts';
import { parseLooseFrontMatter } from './loose-matter.ts';
import { type FrontMatterEntry, readRawTexts } from './matter-entries.ts';
import { parseHeader, type SkillHeader, toFrontMatterEntries } from './skill-header.ts';
import { resolveSkillName } from './skill-name.ts';
import { cleanOneLine } from './skill-text.ts';

export interface ParsedSkill extends SkillHeader {
  readonly kind: 'skill';
  readonly name: string;
  /** Assumptions that were needed to parse the skill, for people; empty if there were none. */
  readonly warnings: readonly string[];
}

/** A SKILL.md that is not a valid skill, and the reason, for people. */
export interface RefusedSkill {
  readonly kind: 'refused';
  readonly reason: string;
}

/**
 * Parses a SKILL.md (S01, S11); `folder` provides the name if the file has none. The body is not
 * cached but read again for each use.
 */
export function parseSkill(
  raw: string,
  folder: string,
): { readonly content: ParsedSkill | RefusedSkill; readonly body: string } {
  const front = readSkillFrontMatter(raw);
  const { body } = front;
  if (front.kind === 'refused') return { content: refuseSkill(front.reason), body };
  if (body === '') return { content: refuseSkill('it has no text below its front matter'), body };
  const { result, warnings: guesses } = parseHeader(front.entries);
  if (!result.success) {
    const issue = result.error.issues[0];
    const where = issue?.path.join('.') ?? '';
    return { content: refuseSkill(`front matter: ${where}: ${issue?.message ?? ''}`), body };
  }
  const named = resolveSkillName(result.data.name, folder);
  if (named.kind === 'refused') return { content: refuseSkill(named.reason), body };
  const warnings = [
    ...front.warnings,
    ...guesses,
    ...(named.warning === null ? [] : [named.warning]),
  ];
  const foreveryone = result.data.foreveryone && front.foreveryone;
  const skill = { ...result.data, foreveryone, kind: 'skill', name: named.name } as const;
  return { content: { ...skill, warnings: limitWarnings(warnings) }, body };
}

type FrontMatterResult =
  | {
      readonly kind: 'read';
      readonly entries: readonly FrontMatterEntry[];
      readonly body: string;
      readonly warnings: readonly string[];
      readonly foreveryone: boolean;
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly body: string };

/** Tries strict YAML first, and parses other front matter key by key. */
function readSkillFrontMatter(raw: string): FrontMatterResult {
  const front = readFrontMatter(raw, z.record(z.string(), z.unknown()));
  const { body } = front;
  if (front.kind === 'none') {
    const reason = 'it has no front matter with name and description between two lines of ---';
    return { kind: 'refused', reason, body };
  }
  if (front.kind === 'parsed') {
    const entries = toFrontMatterEntries(front.data, readRawTexts(front.head));
    return { kind: 'read', entries, body, warnings: [], foreveryone: true };
  }
  const loose = parseLooseFrontMatter(raw);
  return loose === null
    ? { kind: 'refused', reason: front.reason, body }
    : { ...loose, kind: 'read' };
}

function refuseSkill(reason: string): RefusedSkill {
  return { kind: 'refused', reason };
}

const MAX_WARNINGS = 8;
const MAX_WARNING_LENGTH = 200;

function limitWarnings(warnings: readonly string[]): readonly string[] {
  const all = [...new Set(warnings)].map((one) =>
    cleanOneLine(one).slice(0, MAX_WARNING_LENGTH).toWellFormed(),
  );
  if (all.length <= MAX_WARNINGS) return all;
  return [...all.slice(0, MAX_WARNINGS - 1), `and ${all.length - MAX_WARNINGS + 1} more`];
}

import { literalLine } from '@parley/core';
import { compareTexts } from '@parley/prompt';
import type { SoulVersion } from '@parley/store';
import type { LocalTime } from '../time.ts';

export const MAX_SOUL = 8_000;
/** Author of a version that was written into the file. */
export const BY_HAND = 'an editor';

/** When a version that has passed is applied (W06). */
export interface SoulSettings {
  /** `ask`: on the order of the owner; `never`: SOUL.md is frozen. */
  readonly apply: 'after-veto-time' | 'ask' | 'never';
  readonly vetoHours: number;
  /**
   * The handling of texts of people after the seed. `propose`: they are proposals; `seed-only`: they are refused and
   * kept; `until-first-proposal`: the latter once a proposal of the agent has been applied.
   */
  readonly humanEdits: 'until-first-proposal' | 'propose' | 'seed-only';
}

/** The rule that refuses texts of people where only the agent may change SOUL.md. */
export const SEED_ONLY = 'seed-only';

/** Why a person may not change SOUL.md any more, and which setting decides that. */
export function onlyAgentReason({ humanEdits }: Pick<SoulSettings, 'humanEdits'>): string {
  return humanEdits === 'seed-only'
    ? 'A person writes only the first SOUL.md (soul.humanEdits is "seed-only" in the settings).'
    : 'Since a proposal of the agent was applied, only the agent proposes changes of SOUL.md (soul.humanEdits: propose in the settings accepts those of people again).';
}

const AROUND = 2;

/** A diff by lines: `-` removed, `+` added, ` ` context, `…` unchanged lines left out. */
export function soulDiff(before: string, after: string): string {
  const pieces = compareTexts(`${before}\n`, `${after}\n`);
  const lines = pieces.flatMap(({ kind, text }, nth) => {
    const own = text.replace(/\n$/, '').split('\n');
    if (kind !== 'same') return own.map((line) => `${kind === 'added' ? '+' : '-'}${line}`);
    // The unchanged lines next to a change.
    const head = nth > 0 ? AROUND : 0;
    const tail = nth < pieces.length - 1 ? AROUND : 0;
    const context = own.map((line) => ` ${line}`);
    if (context.length > head + tail + 1) context.splice(head, context.length - head - tail, '…');
    return context;
  });
  return lines.join('\n');
}

export function versionName({ number, author }: Pick<SoulVersion, 'number' | 'author'>): string {
  return author === 'seed' ? `v${number}-seed` : `v${number}`;
}

/** The state of a version, in a few words without a capital. */
export function soulStatus(
  { state, findings, appliesAt, appliedAt, decidedBy }: SoulVersion,
  localTime: LocalTime,
): string {
  switch (state) {
    case 'proposed':
      return 'being evaluated';
    case 'refused':
      return findings.some(({ rule }) => rule === SEED_ONLY)
        ? 'kept to copy from, and not used'
        : 'did not pass the evaluation';
    case 'passed':
      return appliesAt === null
        ? 'passed, waits for the owner'
        : `passed, in use from ${localMoment(appliesAt, localTime)} on unless vetoed`;
    case 'applied':
      return `in use since ${localMoment(appliedAt ?? 0, localTime)}`;
    case 'vetoed':
      return `vetoed by ${decidedBy ?? 'the owner'}`;
    case 'replaced':
      return appliedAt === null ? 'overtaken by another one' : 'was in use';
  }
}

/** The author, for people: `by the agent`. */
export function authorText({ author, by }: Pick<SoulVersion, 'author' | 'by'>): string {
  switch (author) {
    case 'seed':
      return by === null ? 'found in the workspace' : `by ${by}`;
    case 'agent':
      return 'by the agent';
    case 'person':
      return `by ${by ?? 'a person'}`;
  }
}

export function localMoment(at: number, localTime: LocalTime): string {
  const { date, time } = localTime(at);
  return `${date} ${time}`;
}

export function scoreText({ score }: Pick<SoulVersion, 'score'>): string {
  return score === null ? 'not scored' : `${score} of 100`;
}

export function versionLine(version: SoulVersion, localTime: LocalTime): string {
  const facts = [soulStatus(version, localTime), scoreText(version), authorText(version)];
  return `- **${versionName(version)}** – ${facts.map(literalLine).join('; ')}. ${literalLine(version.reason)}`;
}

export function findingLines({ findings }: Pick<SoulVersion, 'findings'>): readonly string[] {
  return findings.map(
    ({ rule, text, points }) =>
      `- ${rule}: ${literalLine(text)}${points > 0 ? ` (−${points})` : ''}`,
  );
}

/** A code block around any text, also one with fences in it. */
export function fenceText(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** The changed lines of a diff, short enough for a phone. */
export function shortDiff(diff: string): string {
  const changed = diff.split('\n').filter((line) => /^[-+]/.test(line));
  const shown = changed
    .slice(0, 12)
    .map((line) => (line.length > 200 ? `${line.slice(0, 200)}…` : line));
  return [...shown, ...(changed.length > 12 ? [`… ${changed.length - 12} more lines`] : [])].join(
    '\n',
  );
}

export function nextStep(
  version: SoulVersion,
  { apply }: SoulSettings,
  localTime: LocalTime,
): string {
  const { number, appliesAt } = version;
  if (apply === 'never') return 'It stays a proposal: `soul.apply` is "never" in the settings.';
  const at =
    appliesAt === null
      ? `It waits for your word: \`/soul apply ${number}\`.`
      : `It comes into use on ${localMoment(appliesAt, localTime)} unless you say no. At once: \`/soul apply ${number}\`.`;
  return `${at} Not at all: \`/soul veto ${number}\`. All of it: \`/soul diff ${number}\`.`;
}

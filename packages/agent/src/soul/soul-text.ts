import { toLiteralLine } from '@parley/core';
import { compareTexts } from '@parley/prompt';
import type { SoulVersion } from '@parley/store';
import type { LocalTime } from '../time.ts';

export const MAX_SOUL = 8_000;
/** Returns the author of a version that was written into the file. */
export const BY_HAND = 'an editor';

/** The settings for SOUL.md (W06). */
export interface SoulSettings {
  /**
   * When a version that passed the evaluation is applied. `ask`: after the owner confirms the
   * version. `never`: no version is applied.
   */
  readonly apply: 'after-veto-time' | 'ask' | 'never';
  readonly vetoHours: number;
  /**
   * What happens to SOUL.md text that people write after the seed. `propose`: a person's text
   * becomes a proposal. `seed-only`: a person's text is refused but stored for reference.
   * `until-first-proposal`: a person's text becomes a proposal until one of the agent's proposals
   * has been applied; after that it is refused but stored.
   */
  readonly humanEdits: 'until-first-proposal' | 'propose' | 'seed-only';
}

/** The rule that refuses a person's text if only the agent may change SOUL.md. */
export const SEED_ONLY = 'seed-only';

/** Explains why a person may no longer change SOUL.md, and which setting decides that. */
export function explainAgentOnlyEdits({ humanEdits }: Pick<SoulSettings, 'humanEdits'>): string {
  return humanEdits === 'seed-only'
    ? 'A person writes only the first SOUL.md (soul.humanEdits is "seed-only" in the settings).'
    : 'Since one of the agent’s proposals was applied, only the agent may propose changes to SOUL.md (with soul.humanEdits: propose in the settings, people can propose changes again).';
}

const AROUND = 2;

/** A line diff: `-` removed, `+` added, ` ` context, `…` omitted unchanged lines. */
export function diffSouls(before: string, after: string): string {
  const pieces = compareTexts(`${before}\n`, `${after}\n`);
  const lines = pieces.flatMap(({ kind, text }, nth) => {
    const own = text.replace(/\n$/, '').split('\n');
    if (kind !== 'same') return own.map((line) => `${kind === 'added' ? '+' : '-'}${line}`);
    // The number of unchanged lines to keep around a change.
    const head = nth > 0 ? AROUND : 0;
    const tail = nth < pieces.length - 1 ? AROUND : 0;
    const context = own.map((line) => ` ${line}`);
    if (context.length > head + tail + 1) context.splice(head, context.length - head - tail, '…');
    return context;
  });
  return lines.join('\n');
}

export function formatVersionName({
  number,
  author,
}: Pick<SoulVersion, 'number' | 'author'>): string {
  return author === 'seed' ? `v${number}-seed` : `v${number}`;
}

/** Describes the state of a version in a few words, starting in lower case. */
export function describeSoulStatus(
  { state, findings, appliesAt, appliedAt, decidedBy }: SoulVersion,
  localTime: LocalTime,
): string {
  switch (state) {
    case 'proposed':
      return 'being evaluated';
    case 'refused':
      return findings.some(({ rule }) => rule === SEED_ONLY)
        ? 'kept for reference, not used'
        : 'did not pass the evaluation';
    case 'passed':
      return appliesAt === null
        ? 'passed, waiting for the owner'
        : `passed, in use from ${formatLocalMoment(appliesAt, localTime)} on unless vetoed`;
    case 'applied':
      return `in use since ${formatLocalMoment(appliedAt ?? 0, localTime)}`;
    case 'vetoed':
      return `vetoed by ${decidedBy ?? 'the owner'}`;
    case 'replaced':
      return appliedAt === null ? 'superseded by another version' : 'was in use';
  }
}

/** Describes the author for people, for example `by the agent`. */
export function describeAuthor({ author, by }: Pick<SoulVersion, 'author' | 'by'>): string {
  switch (author) {
    case 'seed':
      return by === null ? 'found in the workspace' : `by ${by}`;
    case 'agent':
      return 'by the agent';
    case 'person':
      return `by ${by ?? 'a person'}`;
  }
}

export function formatLocalMoment(at: number, localTime: LocalTime): string {
  const { date, time } = localTime(at);
  return `${date} ${time}`;
}

export function formatScore({ score }: Pick<SoulVersion, 'score'>): string {
  return score === null ? 'not scored' : `${score} of 100`;
}

export function formatVersionLine(version: SoulVersion, localTime: LocalTime): string {
  const facts = [
    describeSoulStatus(version, localTime),
    formatScore(version),
    describeAuthor(version),
  ];
  return `- **${formatVersionName(version)}** – ${facts.map(toLiteralLine).join('; ')}. ${toLiteralLine(version.reason)}`;
}

export function listFindingLines({ findings }: Pick<SoulVersion, 'findings'>): readonly string[] {
  return findings.map(
    ({ rule, text, points }) =>
      `- ${rule}: ${toLiteralLine(text)}${points > 0 ? ` (−${points})` : ''}`,
  );
}

/** Puts any text into a code block, even a text that contains fences. */
export function formatCodeBlock(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** The changed lines in a diff, shortened for a phone screen. */
export function shortenDiff(diff: string): string {
  const changed = diff.split('\n').filter((line) => /^[-+]/.test(line));
  const shown = changed
    .slice(0, 12)
    .map((line) => (line.length > 200 ? `${line.slice(0, 200)}…` : line));
  return [...shown, ...(changed.length > 12 ? [`… ${changed.length - 12} more lines`] : [])].join(
    '\n',
  );
}

export function describeNextStep(
  version: SoulVersion,
  { apply }: SoulSettings,
  localTime: LocalTime,
): string {
  const { number, appliesAt } = version;
  if (apply === 'never')
    return 'It stays a proposal, because `soul.apply` is "never" in the settings.';
  const at =
    appliesAt === null
      ? `It waits for your decision. Apply it: \`/soul apply ${number}\`.`
      : `It takes effect on ${formatLocalMoment(appliesAt, localTime)} unless you veto it. Apply it now: \`/soul apply ${number}\`.`;
  return `${at} Veto it: \`/soul veto ${number}\`. Full diff: \`/soul diff ${number}\`.`;
}

import type { SoulFinding } from '@parley/store';
import { isBlank } from '@parley/workspace';
import { FORBIDDEN, findForbidden } from './forbidden-words.ts';
import { LONGEST_SOUL } from './soul-settings.ts';
import { languageOf, shareLost } from './soul-text.ts';

/** A text that would be a soul, and what it would take the place of. */
export interface SoulCandidate {
  readonly text: string;
  /** Null: it is looked at for itself. */
  readonly before: string | null;
  readonly author: 'seed' | 'agent' | 'person';
}

/** Some layouts show no more than this, in characters. */
const COMFORTABLE = 4_000;
const SHORTEST = 40;
/** How much of the words the agent may take away at once, and how much is a small step. */
const MOST_LOST = 0.6;
const SMALL_STEP = 0.35;
/** A soul of fewer characters may be rewritten: there is little to lose. */
const LITTLE = 200;
/** What one reason to refuse takes off the score. */
const HEAVY = 60;

/** Everything that the rules have to say against a text (W06). Pure. */
export function soulFindings(candidate: SoulCandidate): readonly SoulFinding[] {
  const { text, before } = candidate;
  if (isBlank(text)) return [heavy('empty', 'It says nothing.')];
  // Nobody has to look through a book to know that it is too long.
  if (text.length > LONGEST_SOUL) return lengthFindings(text);
  return [
    ...(before !== null && before.trim() === text.trim()
      ? [heavy('no-change', 'It is what SOUL.md says already.')]
      : []),
    ...lengthFindings(text),
    ...FORBIDDEN.flatMap((forbidden) => {
      const passage = findForbidden(forbidden, text);
      return passage === null
        ? []
        : [heavy(forbidden.rule, `${forbidden.words} (${quoted(forbidden.rule, passage)})`)];
    }),
    ...(/^---\s*$/m.test(text.split('\n', 1)[0] ?? '')
      ? [heavy('front-matter', 'It begins with front matter; that of the file stays as it is.')]
      : []),
    ...(/https?:\/\//i.test(text)
      ? [light('address', 15, 'It has web addresses; a character needs none.')]
      : []),
    ...(before === null ? [] : stepFindings({ ...candidate, before })),
  ];
}

/** The score that findings leave, from 0 to 100. */
export function scoreOf(findings: readonly SoulFinding[]): number {
  return Math.max(0, 100 - findings.reduce((sum, { points }) => sum + points, 0));
}

function lengthFindings(text: string): readonly SoulFinding[] {
  const { length } = text;
  if (length > LONGEST_SOUL) {
    return [heavy('length', `It has ${length} characters; ${LONGEST_SOUL} at most.`)];
  }
  if (length > COMFORTABLE) {
    const words = `It has ${length} characters; some prompts show only the first ${COMFORTABLE}.`;
    return [light('length', 15, words)];
  }
  return length < SHORTEST ? [light('length', 10, 'It says very little.')] : [];
}

/** How far the step from the text in use is. A person may go as far as they like. */
function stepFindings({
  text,
  before,
  author,
}: SoulCandidate & { readonly before: string }): readonly SoulFinding[] {
  if (author !== 'agent') return [];
  const findings: SoulFinding[] = [];
  const lost = before.length < LITTLE ? 0 : shareLost(before, text);
  const percent = `${Math.round(lost * 100)} %`;
  if (lost > MOST_LOST) {
    const words = `It takes ${percent} of the words away; ${MOST_LOST * 100} % at most in one step.`;
    findings.push(heavy('rewrite', words));
  } else if (lost > SMALL_STEP) {
    findings.push(
      light('rewrite', 15, `It takes ${percent} of the words away; that is a lot at once.`),
    );
  }
  if (text.length > COMFORTABLE / 2 && text.length > before.length * 3) {
    findings.push(light('growth', 15, 'It is more than three times as long as before.'));
  }
  const [was, is] = [languageOf(before), languageOf(text)];
  if (was !== null && is !== null && was !== is) {
    findings.push(light('language', 30, `It changes the language from ${was} to ${is}.`));
  }
  return findings;
}

function heavy(rule: string, words: string): SoulFinding {
  return { rule, points: HEAVY, blocks: true, words };
}

function light(rule: string, points: number, words: string): SoulFinding {
  return { rule, points, blocks: false, words };
}

/** What was found, so that it can be mended; a secret is not repeated. */
function quoted(rule: string, passage: string): string {
  if (rule === 'secret') return `${passage.length} characters`;
  if (rule === 'hidden') return JSON.stringify(passage.slice(0, 20)).replace(/[^\x20-\x7e]/g, '?');
  const line = passage.replace(/\s+/g, ' ');
  return `“${line.length > 80 ? `${line.slice(0, 80).trimEnd()} …` : line}”`;
}

import type { SoulVerdict } from '@parley/store';
import type { ScenarioResults } from './run-scenarios.ts';
import { type SoulCandidate, scoreOf, soulFindings } from './soul-rules.ts';

/** A text with a lower score does not pass. */
const PASS = 60;
/** So much worse than the text in use may a text of the agent’s be. */
const WORSE = 15;

/** What the scenarios came to, of the new text and of the one in use; absent where nobody judges. */
export interface JudgedScenarios {
  readonly after: ScenarioResults;
  readonly before: ScenarioResults;
}

/**
 * Whether a text may become SOUL.md (W06). Pure: the rules alone decide, or the rules and what was seen
 * in the scenarios; the text in use is judged in the same way and compared.
 */
export function judgeSoul(
  candidate: SoulCandidate,
  scenarios: JudgedScenarios | null,
): Omit<SoulVerdict, 'appliesAt'> {
  const { before, author } = candidate;
  const rules = soulFindings(candidate);
  const score = together(scoreOf(rules), scenarios?.after.score);
  const findings = [...rules, ...(scenarios?.after.findings ?? [])];
  const blocks = findings.some((finding) => finding.blocks);
  if (blocks || score < PASS) return { state: 'refused', score, findings };
  if (author !== 'agent' || before === null) return { state: 'passed', score, findings };
  const alone = soulFindings({ text: before, before: null, author: 'seed' });
  const was = together(scoreOf(alone), scenarios?.before.score);
  if (score >= was - WORSE) return { state: 'passed', score, findings };
  const words = `The text in use has ${was} points, this one ${score}; ${WORSE} less at most.`;
  const worse = { rule: 'worse', points: 0, blocks: true, words };
  return { state: 'refused', score, findings: [...findings, worse] };
}

function together(rules: number, scenarios: number | undefined): number {
  return scenarios === undefined ? rules : Math.round((rules + scenarios) / 2);
}

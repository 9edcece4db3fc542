import type { PromptFigures, Spread } from './measure-prompt.ts';
import { HISTORY, SKILLS } from './prompt-scene.ts';
import { round, table } from './report.ts';

/** What is aimed at: ms at the median, and the least share of a prompt that stays the same. */
const AIMS = { warm: 1, changed: 10, shared: 0.95 } as const;

/** The tables of the prompt section, for people. */
export function renderPrompt({ layouts, newSession, cold, bare }: PromptFigures): string {
  const [standard] = layouts;
  if (standard === undefined) throw new Error('No layout was measured.');
  const times = [
    [
      `a full workspace, ${SKILLS} skills, ${HISTORY} entries of history`,
      'Parley',
      '(p95)',
      'read and join',
      '(p95)',
      'aim',
      '',
    ],
    [
      'prompt, nothing changed',
      ...both(standard.warm, bare.files),
      ...aim(standard.warm, AIMS.warm),
    ],
    [
      'prompt, one file changed',
      ...both(standard.changed, bare.files),
      ...aim(standard.changed, AIMS.changed),
    ],
    [
      'the model is asked, history read from the database',
      ...both(standard.untilAsked, bare.files),
    ],
    ['the model is asked, a skill changed, new session', ...both(newSession, bare.filesAndSkills)],
    ['first request of a process', `${round(cold.prompt)} ms`],
    ['  with all that is loaded for it', `${round(cold.whole)} ms`],
  ];
  const each = [
    [
      'layout',
      'prompt',
      '(p95)',
      'file changed',
      'tokens',
      'context',
      'same: system',
      'request',
      '',
    ],
    ...layouts.map((one) => [
      one.layout,
      ...spread(one.warm),
      `${round(one.changed.median)} ms`,
      String(one.systemTokens),
      String(one.contextTokens),
      percent(one.sharedSystem),
      percent(one.sharedRequest),
      one.sharedRequest >= AIMS.shared ? 'met' : 'MISSED',
    ]),
  ];
  return [table(times), '', table(each)].join('\n');
}

function both(parley: Spread, bare: Spread): string[] {
  return [...spread(parley), ...spread(bare)];
}

function spread({ median, p95 }: Spread): string[] {
  return [`${round(median)} ms`, `(${round(p95)})`];
}

function aim({ median }: Spread, most: number): string[] {
  return [`≤ ${most}`, median <= most ? 'met' : 'MISSED'];
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

import type { SoulVersion } from '@parley/store';
import { describe, expect, it } from 'vitest';
import { localTimeIn } from '../local-time.ts';
import { soulNotice } from './soul-messages.ts';
import { BY_HAND, type SoulSettings } from './soul-text.ts';

const VERSION: SoulVersion = {
  agent: 'main',
  number: 3,
  text: 'Be kind.\nBe brief.',
  head: '',
  author: 'agent',
  by: 'the agent',
  reason: 'You *asked* for it,\n@everyone',
  basedOn: 1,
  diff: ' Be kind.\n+Be brief.',
  score: 92,
  findings: [],
  state: 'passed',
  createdAt: 0,
  judgedAt: 0,
  appliesAt: Date.UTC(2026, 10, 22, 23, 5),
  appliedAt: null,
  decidedBy: null,
};
const FINDING = { rule: 'owner', points: 60, blocks: true, text: 'It says who my owner is.' };

const notice = (more: Partial<SoulVersion> = {}, apply: SoulSettings['apply'] = 'ask') =>
  soulNotice(
    { ...VERSION, ...more },
    { settings: { apply, vetoHours: 24 }, localTime: localTimeIn('UTC') },
  );

describe('notices to the owner about SOUL.md', () => {
  it('[W06] number, score, reason, the change, until when, and how to decide', () => {
    expect(notice()).toBe(
      [
        'Proposal 3 for SOUL.md passed the evaluation with 92 of 100.',
        'Reason: You \\*asked\\* for it, @everyone',
        '```diff\n+Be brief.\n```',
        'It comes into use on 2026-11-22 23:05 unless you say no. At once: `/soul apply 3`. Not at all: `/soul veto 3`. All of it: `/soul diff 3`.',
      ].join('\n\n'),
    );
    expect(notice({ appliesAt: null })).toContain('It waits for your word');
    expect(notice({}, 'never')).toContain('It stays a proposal');
  });

  it('[W06] an edit by hand is reported whether it passed or not; a failed one of the agent is not', () => {
    const edit = { author: 'person', by: BY_HAND } as const;
    expect(notice(edit)).toContain('I keep the edit as proposal 3 and go on as I was.');
    const refused = { state: 'refused', score: 40, findings: [FINDING] } as const;
    expect(notice({ ...edit, ...refused })).toContain('- owner: It says who my owner is.');
    expect(notice(refused)).toBeNull();
    expect(notice({ state: 'vetoed' })).toBeNull();
  });

  it('[W06] what came into use by itself comes with the way back', () => {
    expect(notice({ state: 'applied', appliedAt: 5 })).toContain('Back: `/soul rollback 1`.');
  });

  it('[W06] a text with fences stays within its own, and a long change is cut and says so', () => {
    const diff = ['+```', ...Array.from({ length: 30 }, (_, nth) => `+line ${nth}`)].join('\n');
    const words = notice({ diff }) ?? '';
    expect(words).toContain('````diff\n+```\n');
    expect(words).toContain('… 19 more lines');
  });
});

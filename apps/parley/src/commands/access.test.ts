import type { Approval } from '@parley/store';
import { describe, expect, it } from 'vitest';
import { formatApprovals } from './access.ts';

const ASKED: Approval = {
  code: 'ABC234',
  turnId: 't1',
  callKey: 't1.0.0',
  conversationId: 'c',
  tool: 'write',
  shown: 'path: "a.md"\ntext:\n| one\n|\n| two',
  askedBy: 'telegram:42',
  place: 'telegram group -5',
  askedIn: 'c',
  rule: null,
  approvers: ['telegram:7'],
  state: 'pending',
  askedAt: Date.UTC(2026, 10, 21, 13, 5),
  expiresAt: Date.UTC(2026, 10, 21, 13, 20),
  decidedBy: null,
  decidedAt: null,
  result: null,
  choices: null,
  answer: null,
};
const decided = { decidedBy: 'telegram:7', decidedAt: ASKED.askedAt + 9_000 };
const HEAD = '2026-11-21 13:05:00Z  ABC234  write for telegram:42 (telegram group -5): ';

describe('the text of the approvals list', () => {
  it.each<[Partial<Approval>, string]>([
    [{}, 'waits until 2026-11-21 13:20:00Z for an owner or telegram:7'],
    [
      { ...decided, state: 'approved', result: 'done' },
      'allowed by telegram:7 at 2026-11-21 13:05:09Z; the call worked',
    ],
    [
      { ...decided, state: 'approved', result: 'failed' },
      'allowed by telegram:7 at 2026-11-21 13:05:09Z; the call failed or was cut off',
    ],
    [
      { ...decided, state: 'approved' },
      'allowed by telegram:7 at 2026-11-21 13:05:09Z; the outcome of the call is not known yet',
    ],
    [
      { ...decided, state: 'denied' },
      'refused by telegram:7 at 2026-11-21 13:05:09Z; the call was not run',
    ],
    [
      { state: 'expired', decidedAt: ASKED.expiresAt },
      'not answered at 2026-11-21 13:20:00Z; the call was not run',
    ],
    [
      { ...decided, state: 'withdrawn' },
      'stopped by telegram:7 at 2026-11-21 13:05:09Z; the call was not run',
    ],
    [
      { state: 'auto', decidedAt: ASKED.askedAt, result: 'done' },
      'allowed by the settings at 2026-11-21 13:05:00Z; the call worked',
    ],
  ])('[G05] shows who asked, for what, when, and the outcome: %j', (change, words) => {
    const [head, ...shown] = formatApprovals([{ ...ASKED, ...change }]).split('\n');
    expect(head).toBe(`${HEAD}${words}`);
    expect(shown).toEqual(
      ['path: "a.md"', 'text:', '| one', '|', '| two'].map((line) => `    ${line}`),
    );
  });

  it('[G05] prints a long call in full and escapes terminal control characters', () => {
    const shown = `text:\n${'| x\n'.repeat(3_000)}| the end`;
    const place = 'telegram group \x1b[2K\u2800-5';
    const text = formatApprovals([{ ...ASKED, shown, place }]);
    expect(text.match(/\| x$/gm)).toHaveLength(3_000);
    expect(text).toContain('| the end');
    expect(text).toContain('\\u{1b}[2K\\u{2800}-5');
  });

  it('[G05] lists the oldest request first, and reports an empty list', () => {
    const text = formatApprovals([{ ...ASKED, code: 'NEW234' }, ASKED]);
    expect(text.indexOf('ABC234')).toBeLessThan(text.indexOf('NEW234'));
    expect(formatApprovals([])).toContain('No one has been asked');
  });
});

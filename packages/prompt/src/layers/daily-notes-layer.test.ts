import { describe, expect, it } from 'vitest';
import { contextOf, FACTS, OWNER, viewOf } from '../testing/example-turn.ts';
import { dailyNotesLayer } from './memory.ts';

describe('the daily notes', () => {
  it.each([
    ['2026-11-21', '2026-11-20'],
    ['2026-12-01', '2026-11-30'],
    ['2027-01-01', '2026-12-31'],
    ['2028-03-01', '2028-02-29'],
    ['2026-03-30', '2026-03-29'],
  ])('[P08] of %s are those of that day and of %s', async (today, yesterday) => {
    const view = viewOf(OWNER, {
      [`memory/${today}.md`]: 'now',
      [`memory/${yesterday}.md`]: 'then',
      'memory/2026-11-01.md': 'long ago',
    });
    const output = await dailyNotesLayer.render(
      contextOf({ view, facts: { ...FACTS, date: today } }),
      {},
    );
    expect(output).toMatchObject({
      text: `## Daily Notes\n### memory/${yesterday}.md (yesterday)\nthen\n\n### memory/${today}.md (today)\nnow`,
    });
  });

  it('[P02] are not there when nobody wrote any', async () => {
    expect(await dailyNotesLayer.render(contextOf(), {})).toEqual({
      absent: 'yesterday: missing; today: missing',
    });
  });
});

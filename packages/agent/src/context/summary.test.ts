import { estimateTokens } from '@parley/workspace';
import { describe, expect, it } from 'vitest';
import { createScriptedModel } from '../testing/turn-scene.ts';
import { formatSummary, parseSummaryNotes, writeSummary } from './summary.ts';

const readSummary = (text: string) => parseSummaryNotes(text, 1_500).summary;
const NOTHING = { remembered: [], openTasks: [], decisions: [], facts: [], tone: [] };

describe('a summary', () => {
  it.each([
    [
      'under headings',
      '# Facts\n- Ada has a parrot\n# Tone\n- short',
      { facts: ['Ada has a parrot'], tone: ['short'] },
    ],
    [
      'under other headings',
      '**Open tasks:**\n* call Bo\n2. write',
      { openTasks: ['call Bo', 'write'] },
    ],
    ['without headings', 'Ada has a parrot.', { facts: ['Ada has a parrot.'] }],
    ['with empty sections', '# Decisions\n- none\n# Facts\n- x', { facts: ['x'] }],
  ])('[G11] parses a summary %s', (_how, text, expected) => {
    expect(readSummary(text)).toEqual({ ...NOTHING, ...expected });
  });

  it.each(['', '  \n', '# Facts\n', '# Facts\nnone'])(
    '[G11] returns null if the model wrote no summary: %j',
    (text) => {
      expect(readSummary(text)).toBeNull();
    },
  );

  it('[G11] [P10] limits the length of a summary, keeps requests to remember and counts omitted lines', () => {
    const facts = Array.from({ length: 90 }, (_, nth) => `- fact ${nth} ${'x'.repeat(200)}`);
    const read = readSummary(`# Facts\n${facts.join('\n')}\n# Asked to remember\n- the code is 42`);
    expect(read?.remembered).toEqual(['the code is 42']);
    expect(read?.facts.at(-1)).toMatch(/^\(\d+ of 90 left out\)$/);
    expect(formatSummary(read ?? NOTHING).length).toBeLessThan(7_000);
  });

  it('[G11] leaves out quotations that belong only in memory', () => {
    const text = `# Facts\n- a\n# Their own words\n- "I like tea."\n- ${'x'.repeat(501)}\n# Tone\n- b`;
    const { summary, quotes } = parseSummaryNotes(text, 1_500);
    expect(summary).toEqual({ ...NOTHING, facts: ['a'], tone: ['b'] });
    expect(quotes).toEqual(['"I like tea."']);
    expect(readSummary('# Their own words\n- I like tea.')).toBeNull();
  });

  it('[G11] stays within its token limit in Chinese, where each character costs one token', () => {
    const facts = Array.from({ length: 90 }, (_, nth) => `- 第${nth}件事：${'鸟'.repeat(80)}`);
    const read = parseSummaryNotes(`# Facts\n${facts.join('\n')}`, 1_000).summary;
    expect(estimateTokens(formatSummary(read ?? NOTHING))).toBeLessThan(1_100);
  });

  it('[P18] prevents a summary from starting a section of the prompt', () => {
    const text = formatSummary(readSummary('# Facts\n- a\n## System\n- b') ?? NOTHING);
    expect(text.split('\n').every((line) => line.startsWith('> '))).toBe(true);
  });
});

it('[G17] charges the account for a summary even if the model wrote nothing usable', async () => {
  const model = createScriptedModel();
  const counted: number[] = [];
  const deps = {
    model,
    clock: () => 0,
    monotonic: () => 0,
    meter: { count() {}, observe() {} },
    charge: async ({ inputTokens }: { inputTokens: number }) => void counted.push(inputTokens),
  };
  const entry = { seq: 1, at: 0, role: 'user', content: { text: 'hello' } } as const;
  const write = () =>
    writeSummary(deps, { before: null, entries: [entry] }, new AbortController().signal);
  model.next({ say: '# Facts\n- They said hello.' }, { say: '# Facts' });
  await write();
  await expect(write()).rejects.toThrow('no summary');
  expect(counted).toEqual([10, 10]);
});

it.each([
  ['Latin', 'x'],
  ['Chinese', '鸟'],
])(
  '[G11] summarizes %s text that arrived all at once with a small model',
  async (_script, character) => {
    const model = createScriptedModel();
    model.next({ say: `# Facts\n${`- ${character.repeat(400)}\n`.repeat(40)}` });
    const room = 4_096;
    const entries = ['user', 'assistant'] as const;
    const { summary } = await writeSummary(
      { model, clock: () => 0, monotonic: () => 0, meter: { count() {}, observe() {} } },
      {
        before: { remembered: [], openTasks: [], decisions: [], facts: ['a'], tone: [] },
        entries: entries.map((role, seq) => ({
          seq,
          at: 0,
          role,
          content: { text: character.repeat(50_000) },
        })),
        room,
      },
      new AbortController().signal,
    );
    const [asked] = model.asked;
    const sent = [
      ...(asked?.system ?? []).map(({ text }) => text),
      ...(asked?.messages ?? []).map(({ content }) => content),
    ];
    const size = sent.reduce((sum, text) => sum + estimateTokens(text), 0);
    expect(size + (asked?.maxOutputTokens ?? 0)).toBeLessThan(room);
    expect(estimateTokens(summary.facts.join(''))).toBeLessThanOrEqual(room / 8);
  },
);

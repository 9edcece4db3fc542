import { describe, expect, inject, it } from 'vitest';
import { buildBundle } from '../services/bundle.ts';
import { planKills } from './kill-plan.ts';
import { measureKills, renderKills } from './kills.ts';

const redisUrl = inject('redisUrl');
const TIMEOUT_MS = 120_000;

/** Slack redelivers until even the slowest machine has restarted the bot. */
const SMALL = {
  ...{ questions: 20, kills: 2, chats: 8, askMs: 8_000 },
  ...{ retryMs: Array.from({ length: 200 }, () => 250), quietMs: 1_000 },
};

describe('the plan for a comparison of killed bots', () => {
  it('contains the right number of questions and kills in order, and is the same for the same seed', () => {
    const plan = planKills(SMALL, 7);
    const times = plan.questions.map(({ atMs }) => atMs);
    expect(times).toHaveLength(SMALL.questions);
    expect(plan.killsAtMs).toHaveLength(SMALL.kills);
    for (const each of [times, plan.killsAtMs]) {
      expect(each).toEqual(each.toSorted((a, b) => a - b));
      expect(each.every((atMs) => atMs >= 0 && atMs < SMALL.askMs)).toBe(true);
    }
    expect(planKills(SMALL, 7)).toEqual(plan);
    expect(planKills(SMALL, 8)).not.toEqual(plan);
  });
});

// Chat SDK keeps its state in a Redis of its own.
describe.runIf(redisUrl)('Slack bots that are killed at the same time', () => {
  it(
    '[F15] [D01] [D04] Parley answers each question exactly once, and the questions that other bots lose are counted',
    async () => {
      await buildBundle();
      const figures = await measureKills(SMALL);
      const { questions, kills } = SMALL;
      const story = renderKills(figures);
      const [parley, ...others] = figures.tallies;
      const nothing = { lost: 0, doubled: 0, uncertain: 0, crashes: 0 };
      expect(parley, story).toMatchObject({ answered: questions, kills, ...nothing });
      expect(others.map(({ kills: killed }) => killed)).toEqual([kills, kills]);
      for (const { answered, lost } of others) {
        expect(answered, story).toBeGreaterThan(0);
        expect(answered + lost, story).toBe(questions);
      }
    },
    TIMEOUT_MS,
  );
});

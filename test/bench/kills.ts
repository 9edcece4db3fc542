import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type KillPlan, type KillScale, planKills } from './kill-plan.ts';
import { KilledSide, type KillTally } from './killed-side.ts';
import { renderTable } from './report.ts';
import { SLACK_SUBJECTS, type SlackSubject } from './slack-subjects.ts';
import { withNewFolder } from './subjects.ts';

// Slack bots that are killed at the same moments while the same people ask the same questions.

export interface KillFigures {
  readonly scale: KillScale;
  readonly seed: number;
  readonly ms: number;
  readonly tallies: readonly KillTally[];
}

/** Kills all bots according to the same plan, at the same time. */
export async function measureKills(scale: KillScale, seed = 1): Promise<KillFigures> {
  const began = Date.now();
  const plan = planKills(scale, seed);
  const tallies = await withNewFolder(async (folder) => {
    await using opened = new AsyncDisposableStack();
    const sides: KilledSide[] = [];
    for (const subject of SLACK_SUBJECTS) {
      const side = await KilledSide.open(subject, join(folder, subject), scale);
      opened.defer(() => side.close());
      sides.push(side);
    }
    await follow(plan, sides);
    await Promise.all(sides.map((side) => side.untilOver()));
    return Promise.all(sides.map((side) => side.count()));
  });
  return { scale, seed, ms: Date.now() - began, tallies };
}

/** Sends the questions and kills the bots at the times in the plan. */
async function follow(
  { questions, killsAtMs }: KillPlan,
  sides: readonly KilledSide[],
): Promise<void> {
  const began = performance.now();
  const until = (atMs: number) => sleep(Math.max(0, began + atMs - performance.now()));
  const asking = async (): Promise<void> => {
    for (const { atMs, question } of questions) {
      await until(atMs);
      for (const side of sides) side.ask(question);
    }
  };
  const killing = async (): Promise<void> => {
    for (const atMs of killsAtMs) {
      await until(atMs);
      for (const side of sides) side.kill();
    }
  };
  await Promise.all([asking(), killing()]);
}

const TITLES: Readonly<Record<SlackSubject, string>> = {
  parley: 'Parley',
  'chat-sdk': 'Chat SDK',
  'chat-sdk-after': 'Chat SDK, acknowledging after the handler',
};

export function renderKills({ scale, seed, ms, tallies }: KillFigures): string {
  const { questions, kills, chats } = scale;
  const rows: readonly (readonly [title: string, of: (tally: KillTally) => number])[] = [
    ['answered', ({ answered }) => answered],
    ['lost', ({ lost }) => lost],
    ['of these: not delivered by Slack', ({ undelivered }) => undelivered],
    ['answered twice', ({ doubled }) => doubled],
    ['reported as uncertain', ({ uncertain }) => uncertain],
    ['requests to the model', ({ requests }) => requests],
    ['ended by itself', ({ crashes }) => crashes],
  ];
  const head = ['', ...tallies.map(({ subject }) => TITLES[subject])];
  const body = rows.map(([title, of]) => [title, ...tallies.map((one) => String(of(one)))]);
  const minutes = (ms / 60_000).toFixed(1);
  return [
    `${questions} questions in ${chats} chats of Slack, ${kills} kills, ${minutes} minutes, seed ${seed}`,
    renderTable([head, ...body]),
  ].join('\n\n');
}

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelRequest } from '@parley/models';
import { estimateTokens } from '@parley/workspace';
import { z } from 'zod';
import { startChild } from './processes.ts';
import {
  FILES,
  fillWorkspace,
  HISTORY,
  LAYOUTS,
  openPromptScene,
  type PromptScene,
  SKILLS,
  writeSkill,
} from './prompt-scene.ts';
import { computeQuantile, formatRounded, renderTable } from './report.ts';
import type { BenchRounds } from './rounds.ts';
import { withNewFolder } from './subjects.ts';

/** Times in ms. */
export interface TimeSpread {
  readonly median: number;
  readonly p95: number;
}

/** The costs of one layout. */
export interface LayoutCost {
  readonly layout: string;
  /** Only the prompt, when nothing has changed. */
  readonly warm: TimeSpread;
  /** After one file of the workspace has changed. */
  readonly changed: TimeSpread;
  /** From the start of a turn to the request, including reading its history from the database. */
  readonly untilAsked: TimeSpread;
  readonly systemTokens: number;
  /** Tokens in the user message before the person's own text. */
  readonly contextTokens: number;
  /**
   * The share of the system prompt, and of the whole request, that two turns a minute apart have in
   * common.
   */
  readonly sharedSystem: number;
  readonly sharedRequest: number;
}

export interface PromptFigures {
  readonly layouts: readonly LayoutCost[];
  /** The default layout, when one skill changed and a new session starts. */
  readonly newSession: TimeSpread;
  /** In a separate process: from the first import to the first prompt, and that prompt alone. */
  readonly cold: { readonly whole: number; readonly prompt: number };
  /** The minimal alternative: the same files read and joined, with and without the skills. */
  readonly bare: { readonly files: TimeSpread; readonly filesAndSkills: TimeSpread };
}

/** The output of `prompt-process.ts`. */
const ColdTimes = z.object({ wholeMs: z.number(), promptMs: z.number() });

/** Measures how long prompts take and how much of them stays the same. */
export async function measurePrompt(rounds: BenchRounds): Promise<PromptFigures> {
  return withNewFolder(async (folder) => {
    fillWorkspace(folder);
    const layouts: LayoutCost[] = [];
    for (const layout of LAYOUTS) {
      const scene = await openPromptScene(folder, layout);
      layouts.push({ layout, ...(await measureLayout(scene, rounds.repetitions)) });
      await scene.close();
    }
    const scene = await openPromptScene(folder, 'parley');
    const newSession = await timeNewSession(scene, rounds.repetitions / 4);
    await scene.close();
    return {
      layouts,
      newSession,
      cold: await timeColdStarts(folder, rounds.starts),
      bare: timeBareReads(folder, rounds.repetitions),
    };
  });
}

async function measureLayout(
  scene: PromptScene,
  times: number,
): Promise<Omit<LayoutCost, 'layout'>> {
  for (let entry = 0; entry < HISTORY; entry += 2) await scene.turn();
  const turns: Awaited<ReturnType<PromptScene['turn']>>[] = [];
  for (let turn = 0; turn < times; turn += 1) turns.push(await scene.turn());
  const [before, after] = turns.slice(-2).map(({ request }) => request);
  if (before === undefined || after === undefined) throw new Error('Two turns are needed.');
  for (let round = 0; round < times; round += 1) await scene.assemble();
  const warm = await timeRuns(times, () => scene.assemble());
  const changed = await timeChangedFiles(scene, times / 2);
  const { parts } = await scene.assemble();
  const context = parts.filter(({ placement }) => placement === 'user').map(({ text }) => text);
  return {
    warm,
    changed,
    untilAsked: summarizeTimes(turns.map(({ untilAskedMs }) => untilAskedMs)),
    systemTokens: estimateTokens(joinSystem(before)),
    contextTokens: estimateTokens(context.join('\n\n')),
    sharedSystem: computeSharedPrefix(joinSystem(before), joinSystem(after)),
    sharedRequest: computeSharedPrefix(joinRequest(before), joinRequest(after)),
  };
}

async function timeChangedFiles(scene: PromptScene, times: number): Promise<TimeSpread> {
  const path = join(scene.workspace, 'AGENTS.md');
  const text = readFileSync(path, 'utf8');
  const spread = await timeRuns(
    times,
    () => scene.assemble(),
    (round) => writeFileSync(path, `${text}\nChanged ${round} times.\n`),
  );
  writeFileSync(path, text);
  return spread;
}

async function timeNewSession(scene: PromptScene, times: number): Promise<TimeSpread> {
  await scene.turn();
  const values: number[] = [];
  for (let round = 0; round < times; round += 1) {
    writeSkill(scene.workspace, round % SKILLS, `changed ${round} times`);
    await scene.newSession();
    values.push((await scene.turn()).untilAskedMs);
  }
  return summarizeTimes(values);
}

async function timeColdStarts(folder: string, starts: number): Promise<PromptFigures['cold']> {
  const times: z.infer<typeof ColdTimes>[] = [];
  for (let start = 0; start <= starts; start += 1) {
    const child = startChild('prompt-process.ts');
    const told = ColdTimes.parse(await child.ask({ folder }));
    await child.close();
    // The first process fills the compile cache.
    if (start > 0) times.push(told);
  }
  const median = (of: (time: z.infer<typeof ColdTimes>) => number) =>
    computeQuantile(times.map(of), 0.5);
  return { whole: median(({ wholeMs }) => wholeMs), prompt: median(({ promptMs }) => promptMs) };
}

function timeBareReads(folder: string, times: number): PromptFigures['bare'] {
  const skills = Array.from({ length: SKILLS }, (_, nth) => `skills/skill-${nth}/SKILL.md`);
  const joined = (names: readonly string[]) => () =>
    names.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n\n');
  return {
    files: timeSyncRuns(times, joined(FILES)),
    filesAndSkills: timeSyncRuns(times / 4, joined([...FILES, ...skills])),
  };
}

/** Times repeated runs of `work`. */
export async function timeRuns(
  times: number,
  work: () => Promise<unknown>,
  before: (round: number) => void = () => {},
): Promise<TimeSpread> {
  const values: number[] = [];
  for (let round = 0; round < times; round += 1) {
    before(round);
    const started = performance.now();
    await work();
    values.push(performance.now() - started);
  }
  return summarizeTimes(values);
}

function timeSyncRuns(times: number, work: () => unknown): TimeSpread {
  const values: number[] = [];
  // The first half is for warming up.
  for (let round = -times; round < times; round += 1) {
    const started = performance.now();
    work();
    if (round >= 0) values.push(performance.now() - started);
  }
  return summarizeTimes(values);
}

export function summarizeTimes(values: readonly number[]): TimeSpread {
  return { median: computeQuantile(values, 0.5), p95: computeQuantile(values, 0.95) };
}

function joinSystem({ system }: ModelRequest): string {
  return system.map(({ text }) => text).join('\n\n');
}

/** As seen by a provider, whose cache starts with the tools. */
function joinRequest(request: ModelRequest): string {
  return JSON.stringify([request.tools, joinSystem(request), request.messages]);
}

/** The share of the later text that equals the earlier one from the first byte on, 0 to 1. */
function computeSharedPrefix(earlier: string, later: string): number {
  const [before, after] = [Buffer.from(earlier), Buffer.from(later)];
  const end = after.findIndex((byte, at) => byte !== before[at]);
  return (end === -1 ? after.length : end) / after.length;
}

/** The aims: ms at the median, and the minimum share of a prompt that stays the same. */
const AIMS = { warm: 1, changed: 10, shared: 0.95 } as const;

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
      ...formatBoth(standard.warm, bare.files),
      ...formatAim(standard.warm, AIMS.warm),
    ],
    [
      'prompt, one file changed',
      ...formatBoth(standard.changed, bare.files),
      ...formatAim(standard.changed, AIMS.changed),
    ],
    [
      'the model is asked, history read from the database',
      ...formatBoth(standard.untilAsked, bare.files),
    ],
    [
      'the model is asked, a skill changed, new session',
      ...formatBoth(newSession, bare.filesAndSkills),
    ],
    ['first request of a process', `${formatRounded(cold.prompt)} ms`],
    ['  with all that is loaded for it', `${formatRounded(cold.whole)} ms`],
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
      ...formatSpread(one.warm),
      `${formatRounded(one.changed.median)} ms`,
      String(one.systemTokens),
      String(one.contextTokens),
      formatPercent(one.sharedSystem),
      formatPercent(one.sharedRequest),
      one.sharedRequest >= AIMS.shared ? 'met' : 'MISSED',
    ]),
  ];
  return [renderTable(times), '', renderTable(each)].join('\n');
}

function formatBoth(parley: TimeSpread, bare: TimeSpread): string[] {
  return [...formatSpread(parley), ...formatSpread(bare)];
}

function formatSpread({ median, p95 }: TimeSpread): string[] {
  return [`${formatRounded(median)} ms`, `(${formatRounded(p95)})`];
}

function formatAim({ median }: TimeSpread, most: number): string[] {
  return [`≤ ${most}`, median <= most ? 'met' : 'MISSED'];
}

function formatPercent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

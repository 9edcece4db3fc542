import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { silentLogger } from '@parley/core';
import { openMemorySearch, openWorkspace, type Workspace } from '@parley/workspace';
import { createNoteScene, NOTES, type NoteScene, QUESTIONS, writeNotes } from './memory-notes.ts';
import { computeQuantile, formatRounded, renderTable } from './report.ts';
import type { BenchRounds } from './rounds.ts';
import { withNewFolder } from './subjects.ts';

/** Elapsed and processor time of one search, in ms. */
export interface SearchTime {
  readonly wall: number;
  readonly cpu: number;
}

/** The distribution of search times, in ms. */
export interface SearchSpread {
  readonly median: number;
  readonly p95: number;
  readonly p99: number;
  readonly most: number;
}

/** One way of searching, with its elapsed and processor times. */
export interface SearchCost {
  readonly name: string;
  readonly wall: SearchSpread;
  readonly cpu: SearchSpread;
}

export interface MemorySearchFigures {
  /** The first search of a process, which reads all files. */
  readonly first: number;
  readonly costs: readonly SearchCost[];
}

type AskQuestion = (question: string, nth: number) => unknown;

const OWNER = { kind: 'owner', conversationId: 'telegram:default:42' } as const;
const PLACE = { conversation: OWNER.conversationId, session: 3, most: 12 };
const TEMPLATES = join(import.meta.dirname, '../../config/workspace');

/**
 * Measures how long a search in 10,000 notes takes (G14), compared with a plain scan of the same
 * notes: an in-memory SQLite table with `like` for each word, which does not rank.
 */
export async function measureMemorySearch(rounds: BenchRounds): Promise<MemorySearchFigures> {
  const scene = createNoteScene();
  return withNewFolder(async (folder) => {
    const home = join(folder, 'workspace');
    const workspace = await openWorkspace({
      folder: home,
      templates: TEMPLATES,
      log: silentLogger,
    });
    writeNotes(home, scene);
    const started = performance.now();
    const ask = await createSearcher(workspace);
    const first = performance.now() - started;
    const repeats = Math.max(2, Math.round(rounds.repetitions / 80));
    const found = await timeQuestions(scene, repeats, ask);
    const changed = await timeQuestions(
      scene,
      1,
      async (question, nth) => {
        await ask(question, nth);
      },
      (nth) => appendFileSync(join(home, 'memory/user.md'), `- A new note about heron ${nth}.\n`),
    );
    const scanned = await timeQuestions(scene, 1, createScanner(scene));
    return {
      first,
      costs: [
        summarizeCost('a question, nothing changed', found),
        summarizeCost('a question after a memory was saved', changed),
        summarizeCost('plain scan: like, no order', scanned),
      ],
    };
  });
}

async function createSearcher(workspace: Workspace): Promise<AskQuestion> {
  const search = openMemorySearch(workspace);
  const view = workspace.for(OWNER);
  const ask: AskQuestion = (question) => search.find(view, question, PLACE);
  await ask('anything', 0);
  return ask;
}

function createScanner({ notes }: NoteScene): AskQuestion {
  const database = new DatabaseSync(':memory:');
  database.exec('create table note (text text)');
  const insert = database.prepare('insert into note values (?)');
  for (const note of notes) insert.run(note);
  return (question) => {
    const words = question.split(/\s+/).slice(0, 40);
    const where = words.map(() => 'text like ?').join(' or ');
    return database
      .prepare(`select text from note where ${where} limit 12000`)
      .all(...words.map((word) => `%${word}%`));
  };
}

async function timeQuestions(
  { questions }: NoteScene,
  repeats: number,
  ask: AskQuestion,
  before: (nth: number) => void = () => {},
): Promise<readonly SearchTime[]> {
  const times: SearchTime[] = [];
  // The first round is for warming up.
  for (let round = repeats > 1 ? -1 : 0; round < repeats; round += 1) {
    for (const [nth, question] of questions.entries()) {
      before(nth);
      const busy = process.cpuUsage();
      const started = performance.now();
      await ask(question, nth);
      const wall = performance.now() - started;
      const { user, system } = process.cpuUsage(busy);
      if (round >= 0) times.push({ wall, cpu: (user + system) / 1_000 });
    }
  }
  return times;
}

function summarizeCost(name: string, times: readonly SearchTime[]): SearchCost {
  const [wall, cpu] = [times.map((time) => time.wall), times.map((time) => time.cpu)];
  return { name, wall: summarizeSpread(wall), cpu: summarizeSpread(cpu) };
}

function summarizeSpread(values: readonly number[]): SearchSpread {
  return {
    median: computeQuantile(values, 0.5),
    p95: computeQuantile(values, 0.95),
    p99: computeQuantile(values, 0.99),
    most: computeQuantile(values, 1),
  };
}

/** The aim for 99 of 100 searches, in ms. */
const AIM = 10;

export function renderMemorySearch({ first, costs }: MemorySearchFigures): string {
  const title = `${NOTES} notes in three languages, ${QUESTIONS} questions, ms`;
  const head = ['median', 'p95', 'p99', 'most', 'processor p99', 'aim', ''];
  const [found] = costs;
  const rows = costs.map((cost) => {
    const met = cost.wall.p99 <= AIM ? 'met' : 'MISSED';
    const aim = cost === found ? [`p99 ≤ ${AIM}`, met] : ['', ''];
    return [cost.name, ...formatNumbers(cost.wall), formatRounded(cost.cpu.p99), ...aim];
  });
  return renderTable([
    [title, ...head],
    ...rows,
    ['the first question, all files read', formatRounded(first)],
  ]);
}

function formatNumbers({ median, p95, p99, most }: SearchSpread): string[] {
  return [median, p95, p99, most].map(formatRounded);
}

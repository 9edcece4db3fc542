import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { silentLogger } from '@parley/core';
import { openMemorySearch, openWorkspace, type Workspace } from '@parley/workspace';
import { NOTES, type NoteScene, noteScene, QUESTIONS, writeNotes } from './memory-notes.ts';
import { quantile, round, table } from './report.ts';
import type { Rounds } from './rounds.ts';
import { inNewFolder } from './subjects.ts';

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

/** One way of searching, by elapsed and by processor time. */
export interface SearchCost {
  readonly name: string;
  readonly wall: SearchSpread;
  readonly cpu: SearchSpread;
}

/** All results of the section. */
export interface MemorySearchFigures {
  /** The first search of a process, which reads all files. */
  readonly first: number;
  readonly costs: readonly SearchCost[];
}

type Ask = (question: string, nth: number) => unknown;

const OWNER = { kind: 'owner', conversationId: 'telegram:default:42' } as const;
const PLACE = { conversation: OWNER.conversationId, session: 3, most: 12 };
const TEMPLATES = join(import.meta.dirname, '../../config/workspace');

/**
 * Measures how long a search in 10,000 notes takes (G14), compared with a plain scan of the same
 * notes: an in-memory SQLite table with `like` for each word, which ranks nothing.
 */
export async function measureMemorySearch(rounds: Rounds): Promise<MemorySearchFigures> {
  const scene = noteScene();
  return inNewFolder(async (folder) => {
    const home = join(folder, 'workspace');
    const workspace = await openWorkspace({
      folder: home,
      templates: TEMPLATES,
      log: silentLogger,
    });
    writeNotes(home, scene);
    const started = performance.now();
    const ask = await searcher(workspace);
    const first = performance.now() - started;
    const repeats = Math.max(2, Math.round(rounds.repetitions / 80));
    const found = await timed(scene, repeats, ask);
    const changed = await timed(
      scene,
      1,
      async (question, nth) => {
        await ask(question, nth);
      },
      (nth) => appendFileSync(join(home, 'memory/user.md'), `- A new note about heron ${nth}.\n`),
    );
    const scanned = await timed(scene, 1, scanner(scene));
    return {
      first,
      costs: [
        costOf('a question, nothing changed', found),
        costOf('a question after a memory was saved', changed),
        costOf('plain scan: like, no order', scanned),
      ],
    };
  });
}

async function searcher(workspace: Workspace): Promise<Ask> {
  const search = openMemorySearch(workspace);
  const view = workspace.for(OWNER);
  const ask: Ask = (question) => search.find(view, question, PLACE);
  await ask('anything', 0);
  return ask;
}

function scanner({ notes }: NoteScene): Ask {
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

async function timed(
  { questions }: NoteScene,
  repeats: number,
  ask: Ask,
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

function costOf(name: string, times: readonly SearchTime[]): SearchCost {
  const [wall, cpu] = [times.map((time) => time.wall), times.map((time) => time.cpu)];
  return { name, wall: spreadOf(wall), cpu: spreadOf(cpu) };
}

function spreadOf(values: readonly number[]): SearchSpread {
  return {
    median: quantile(values, 0.5),
    p95: quantile(values, 0.95),
    p99: quantile(values, 0.99),
    most: quantile(values, 1),
  };
}

/** The aim for 99 of 100 searches, in ms. */
const AIM = 10;

/** The printed table of the memory-search section. */
export function renderMemorySearch({ first, costs }: MemorySearchFigures): string {
  const title = `${NOTES} notes in three languages, ${QUESTIONS} questions, ms`;
  const head = ['median', 'p95', 'p99', 'most', 'processor p99', 'aim', ''];
  const [found] = costs;
  const rows = costs.map((cost) => {
    const met = cost.wall.p99 <= AIM ? 'met' : 'MISSED';
    const aim = cost === found ? [`p99 ≤ ${AIM}`, met] : ['', ''];
    return [cost.name, ...numbers(cost.wall), round(cost.cpu.p99), ...aim];
  });
  return table([[title, ...head], ...rows, ['the first question, all files read', round(first)]]);
}

function numbers({ median, p95, p99, most }: SearchSpread): string[] {
  return [median, p95, p99, most].map(round);
}

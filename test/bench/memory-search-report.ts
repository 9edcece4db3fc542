import type { MemorySearchFigures, SearchSpread } from './measure-memory-search.ts';
import { NOTES, QUESTIONS } from './memory-notes.ts';
import { round, table } from './report.ts';

/** What is aimed at, in ms: 99 of 100 questions. */
const AIM = 10;

/** The table of the memory-search section, for people. */
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
